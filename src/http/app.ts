/** The app of the process: the router, the health routes, and the guard of a server that has no keys. */
import express, { type ErrorRequestHandler, type Express } from 'express'
import { RecentnError } from '../errors'
import type { Store } from '../store-types'
import { healthRoutes } from './health'
import { localOnly } from './local-only'
import { sendProblem, statusOf, toRecentnError } from './problem'
import { giveRequestId } from './request-id'
import { type RouterOptions, routerOf, storeRoutes } from './router'

export interface AppOptions extends Pick<RouterOptions, 'bodyLimitBytes' | 'onError' | 'stopping' | 'streams'> {
  /** Requests with any Host and Origin are taken. */
  allowAnonymous: boolean
}

export function createApp(store: Store, options: AppOptions): Express {
  const { allowAnonymous, onError } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use((request, response, next) => {
    giveRequestId(request, response)
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      throw new RecentnError('invalid_input', 'The Host header is required')
    }
    next()
  })
  if (!allowAnonymous) app.use(localOnly)
  const { bodyLimitBytes, stopping, streams } = options
  const routes = [...storeRoutes, ...healthRoutes]
  app.use(routerOf(store, { access: 'anonymous', bodyLimitBytes, onError, stopping, streams }, routes))
  app.use(() => {
    throw new RecentnError('not_found')
  })
  const problems: ErrorRequestHandler = (thrown: unknown, request, response, _next) => {
    const error = toRecentnError(thrown)
    if (statusOf(error) >= 500) onError?.(thrown, { request, requestId: giveRequestId(request, response) })
    sendProblem(response, error)
  }
  app.use(problems)
  return app
}
