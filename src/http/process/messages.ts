/**
 * The classes of request and response that the server of an Express app makes. Express gives every request and response
 * its own prototype, and an object whose prototype is changed after it was made is slow in everything that V8 does with
 * it afterwards. Here they are born with the prototype that Express is about to give them, so that nothing changes.
 */
import http from 'node:http'
import { type Express, request as expressRequest, response as expressResponse } from 'express'

/** Options of `http.createServer` for a server of this app and no other one. */
export function messagesOf(app: Express): Pick<http.ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class AppRequest extends http.IncomingMessage {}
  class AppResponse extends http.ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, expressRequest)
  Object.setPrototypeOf(AppResponse.prototype, expressResponse)
  const ofThisApp = { value: app, writable: true, enumerable: true, configurable: true }
  Object.defineProperty(AppRequest.prototype, 'app', ofThisApp)
  Object.defineProperty(AppResponse.prototype, 'app', ofThisApp)
  app.request = AppRequest.prototype as typeof app.request
  app.response = AppResponse.prototype as typeof app.response
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse as typeof http.ServerResponse }
}
