/** The page of every code at `/docs/errors`, below where the router is mounted: what the `type` of a problem leads to. */
import { createHash } from 'node:crypto'
import type { RequestHandler } from 'express'
import { errorsHtml } from '../error-reference'
import { traceOf } from './metrics/traffic'
import { ERRORS_PATH } from './output/problem'
import { deliverKept } from './output/sending'

/** It is the same for everyone and tells nothing of the data, so nobody is asked who may see it. */
export function errorsPage(): RequestHandler {
  const page = Buffer.from(errorsHtml())
  const etag = `"${createHash('sha256').update(page).digest('base64url').slice(0, 22)}"`
  return (request, response) => {
    const trace = traceOf(response)
    if (trace) trace.route = ERRORS_PATH
    response.setHeader('Cache-Control', 'no-cache')
    response.setHeader('ETag', etag)
    if (request.fresh) {
      response.status(304).end()
      return
    }
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
    response.setHeader('Content-Length', page.length)
    deliverKept(response, page)
  }
}
