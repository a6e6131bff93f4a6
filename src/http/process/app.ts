/** The app of the process: the router, the health routes, the dashboard, who may reach them, and all answers' headers. */
import express, { type ErrorRequestHandler, type Express } from 'express'
import { RecentnError } from '../../errors'
import type { Store } from '../../store/types'
import { createMetrics, type Metrics } from '../metrics/metrics'
import { type Observer, observing } from '../metrics/traffic'
import { isFault, sendProblem, toRecentnError } from '../output/problem'
import { giveRequestId } from '../request-id'
import { type RouterOptions, routerOf, storeRoutes } from '../router'
import { processRoutes } from '../routes/health'
import { dashboard } from './dashboard'
import { docsPage } from './docs-page'
import { checkHead } from './head'
import { cors, setSecurityHeaders } from './headers'
import { processAccess } from './process-access'

export interface AppOptions extends Pick<RouterOptions, 'bodyLimitBytes' | 'onError' | 'stopping' | 'streams'> {
  /** Requests without a key are taken, and with any Host and Origin. */
  allowAnonymous: boolean
  /** Origins whose pages may read answers, and, as long as there is no key and they are local, ask for them; none when left out. */
  corsOrigins?: readonly string[]
  /** What is at `/metrics`; the store's, when left out. */
  metrics?: Metrics
  /** Abort it when the process is about to stop: `/readyz` says so from then on. */
  draining?: AbortSignal
  /** Told of every request, beside the metrics. */
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
  // Each middleware has its price: what every request needs is in one.
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
  app.use(dashboard())
  app.use(docsPage())
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
