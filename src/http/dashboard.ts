/** The dashboard as an Express router, for a user's app: the pages, and the REST interface that they call. */
import type { IncomingMessage } from 'node:http'
import express, { type Request, type RequestHandler } from 'express'
import { RecentnError } from '../shared/errors'
import type { Store } from '../store/types'
import { sendProblem } from './output/problem'
import { pages } from './page-files'
import { SECURITY_HEADERS } from './process/headers'
import { giveRequestId } from './request-id'
import { createRouter, type MountedRouter, type RouterOptions } from './router'

/**
 * The dashboard as a router: `app.use('/admin/recentn', createDashboard(store, { access }))`. It serves the page at the
 * path where it is mounted. Below it are the page's files in `/dashboard/…`, the REST interface of `createRouter` in
 * `/v1/…`, `/openapi.json`, and the reference at `/docs`. It leaves every other path to the app.
 *
 * The options are those of `createRouter`. With a function as `access` the browser's own requests are asked about, so the
 * app can decide by its session: the page asks for no API key. It shows what the scope `read` allows, and its buttons
 * need `admin`. The files of the page hold no data and are served to everyone. With `'keys'` the page asks for an API
 * key. Unless `access` is `'keys'`, requests that change something are refused with `forbidden` if a page of another
 * origin has sent them. Throws `invalid_input` for options that are not valid.
 */
export function createDashboard<Incoming extends IncomingMessage = Request>(
  store: Store,
  options: RouterOptions<Incoming>,
): MountedRouter {
  const rest = createRouter(store, options)
  const hasKeys = options.access === 'keys'
  const router = express.Router({ strict: true, caseSensitive: true })
  router.get('/', intoFolder)
  router.all(ROUTES, securityHeaders)
  // A browser adds cookies by itself, also to what a page of another site sends; it does not add keys.
  if (!hasKeys) router.all(ROUTES, ownPagesOnly)
  router.use(rest as unknown as RequestHandler)
  router.use(pages({ hasKeys }))
  return router as unknown as MountedRouter
}

const ROUTES = /^\/v1\//

/** The addresses in the page are relative, so that the address of the page must end with a slash. */
const intoFolder: RequestHandler = ({ originalUrl }, response, next) => {
  const [path = '', ...query] = originalUrl.split('?')
  if (path.endsWith('/')) return next()
  // Relative too: a proxy may serve the app below its own path.
  const folder = `./${path.slice(path.lastIndexOf('/') + 1)}/`
  response.statusCode = 302
  response.setHeader('Location', [folder, ...query].join('?')).end()
}

const securityHeaders: RequestHandler = (_request, response, next) => {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
  next()
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

const ownPagesOnly: RequestHandler = (request, response, next) => {
  if (SAFE.has(request.method) || !isFromElsewhere(request)) return next()
  giveRequestId(request, response)
  sendProblem(response, new RecentnError('forbidden', 'Pages of other origins may not change anything here'))
}

/** Whether a page of another origin has sent the request. A client that is not a browser does not say. */
function isFromElsewhere({ headers }: Request): boolean {
  const { origin, host, 'sec-fetch-site': site, 'x-forwarded-host': forwarded } = headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  // Browsers do not say the site to a server without TLS. A proxy may have replaced the Host, and a page can't set either.
  const [outer] = String(forwarded ?? '').split(',')
  return !URL.canParse(origin) || ![host, outer?.trim()].includes(new URL(origin).host)
}
