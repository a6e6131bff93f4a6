/** The Express app of the process: access, the router, health routes, pages, and the headers of all answers. */
import http from 'node:http'
import express, { type Express } from 'express'
import type { Store } from '../../store/types'
import { createMetrics, type Metrics } from '../metrics/metrics'
import { type Observer, observing } from '../metrics/traffic'
import { StatusError } from '../output/problem'
import { pages } from '../page-files'
import { addRoutes, checkTarget, problemHandler, type RouterOptions, storeRoutes } from '../router'
import { processRoutes } from '../routes/health'
import { addOwnHeaders, checkHead, cors } from './headers'
import { processAccess } from './process-access'

export interface AppOptions
  extends Pick<RouterOptions, 'bodyLimitBytes' | 'maxPerPrefix' | 'onError' | 'stopping' | 'streams'> {
  /** Accepts requests without a key, from any Host and Origin. */
  allowAnonymous: boolean
  /**
   * Origins whose pages may read answers. While there are no API keys, pages of other origins may call only if they are
   * local and listed here. Default: none.
   */
  corsOrigins?: readonly string[]
  /** The metrics at `/metrics`. Default: metrics of the store. */
  metrics?: Metrics
  /** Abort it when the process is about to stop: from then on `/readyz` answers 503. */
  draining?: AbortSignal
  /** Called with every request, in addition to the metrics. */
  observers?: readonly Observer[]
}

export function createApp(store: Store, options: AppOptions): Express {
  const { allowAnonymous, corsOrigins = [], onError, draining, observers = [] } = options
  const { metrics = createMetrics(store) } = options
  const { guard, door } = processAccess(store, allowAnonymous, corsOrigins)
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('strict routing')
  app.enable('case sensitive routing')
  addOwnHeaders(app.response)
  const observe = observing([metrics.observer, ...observers])
  const share = corsOrigins.length > 0 ? cors(corsOrigins) : null
  // Each middleware and each router inside another one costs time: what all requests need is in one middleware, and the
  // routes are the app's own.
  app.use((request, response, next) => {
    const goOn = () => {
      checkTarget(request)
      next()
    }
    observe(request, response)
    checkHead(request)
    return door(request, response, () => (share ? share(request, response, goOn) : goOn()))
  })
  const { bodyLimitBytes, maxPerPrefix, stopping, streams } = options
  const routes = [...storeRoutes, ...processRoutes({ metrics, draining })]
  const settings = { guard, bodyLimitBytes, maxPerPrefix, onError, stopping, streams }
  addRoutes(app.router, store, settings, routes)
  app.use(pages({ hasKeys: true }))
  app.use(() => {
    throw new StatusError(404, 'No route has this path')
  })
  app.use(problemHandler(settings, routes))
  return app
}

/**
 * Options of `http.createServer` for a server of this app and of no other: the classes of its requests and responses.
 * Express gives every request and response its own prototype, and V8 is slow with an object whose prototype changed
 * after it was made. These classes make them with the prototype that Express is about to give them, so that nothing
 * changes.
 */
export function messagesOf(app: Express): Pick<http.ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class AppRequest extends http.IncomingMessage {}
  class AppResponse extends http.ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, app.request)
  Object.setPrototypeOf(AppResponse.prototype, app.response)
  app.request = AppRequest.prototype as typeof app.request
  app.response = AppResponse.prototype as typeof app.response
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse as typeof http.ServerResponse }
}
