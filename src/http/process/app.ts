/** The Express app of the process: access, the router, health routes, pages, and the headers of all answers. */
import http from 'node:http'
import express, {
  type ErrorRequestHandler,
  type Express,
  request as expressRequest,
  response as expressResponse,
} from 'express'
import { RecentnError } from '../../errors'
import type { Store } from '../../store/types'
import { createMetrics, type Metrics } from '../metrics/metrics'
import { type Observer, observing } from '../metrics/traffic'
import { isFault, sendProblem, toRecentnError } from '../output/problem'
import { giveRequestId } from '../request-id'
import { type RouterOptions, routerOf, storeRoutes } from '../router'
import { processRoutes } from '../routes/health'
import { checkHead, cors, setSecurityHeaders } from './headers'
import { pages } from './pages'
import { processAccess } from './process-access'

export interface AppOptions extends Pick<RouterOptions, 'bodyLimitBytes' | 'onError' | 'stopping' | 'streams'> {
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
  const observe = observing([metrics.observer, ...observers])
  // Each middleware costs time: everything that all requests need is in one.
  app.use((request, response, next) => {
    observe(request, response)
    setSecurityHeaders(response)
    giveRequestId(request, response)
    checkHead(request)
    next()
  })
  app.use(door)
  if (corsOrigins.length > 0) app.use(cors(corsOrigins))
  const { bodyLimitBytes, stopping, streams } = options
  const routes = [...storeRoutes, ...processRoutes({ metrics, draining })]
  app.use(routerOf(store, { guard, bodyLimitBytes, onError, stopping, streams }, routes))
  app.use(pages())
  app.use(() => {
    throw new RecentnError('not_found')
  })
  const problems: ErrorRequestHandler = (thrown: unknown, request, response, _next) => {
    const error = toRecentnError(thrown)
    if (isFault(error)) onError?.(thrown, { request, requestId: giveRequestId(request, response) })
    sendProblem(response, error)
  }
  app.use(problems)
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
  Object.setPrototypeOf(AppRequest.prototype, expressRequest)
  Object.setPrototypeOf(AppResponse.prototype, expressResponse)
  const ofThisApp = { value: app, writable: true, enumerable: true, configurable: true }
  Object.defineProperty(AppRequest.prototype, 'app', ofThisApp)
  Object.defineProperty(AppResponse.prototype, 'app', ofThisApp)
  app.request = AppRequest.prototype as typeof app.request
  app.response = AppResponse.prototype as typeof app.response
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse as typeof http.ServerResponse }
}
