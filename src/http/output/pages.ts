/**
 * Files and pages that are the same for every client, kept in memory under a strong tag. A browser asks with every load
 * whether its copy is still current.
 */
import { createHash } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import { errorsHtml } from '../errors-page'
import { traceOf } from '../metrics/traffic'
import { ERRORS_PATH } from './problem'
import { deliverKept } from './sending'

export interface KeptPage {
  bytes: Buffer
  etag: string
}

/** The bytes under a tag of their hash, with a suffix where they are one of several encodings of a file. */
export function keptPage(bytes: Buffer, hashed = bytes, suffix = ''): KeptPage {
  const hash = createHash('sha256').update(hashed).digest('base64url').slice(0, 22)
  return { bytes, etag: `"${hash}${suffix}"` }
}

/** Answers with the page, or with 304 to a client that has it. The headers describe the page. */
export function sendPage(
  request: Request,
  response: Response,
  { bytes, etag }: KeptPage,
  headers: Readonly<Record<string, string>>,
): void {
  response.setHeader('Cache-Control', 'no-cache')
  response.setHeader('ETag', etag)
  if (request.fresh) {
    response.status(304).end()
    return
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.setHeader('Content-Length', bytes.length)
  deliverKept(response, request.method === 'HEAD' ? undefined : bytes)
}

/**
 * The page at `/docs/errors`, below where the router is mounted, which explains every code: the `type` of a problem
 * leads there. It has no data, so everyone may read it.
 */
export function errorsPage(): RequestHandler {
  let page: KeptPage | undefined
  return (request, response) => {
    page ??= keptPage(Buffer.from(errorsHtml()))
    const trace = traceOf(response)
    if (trace) trace.route = ERRORS_PATH
    sendPage(request, response, page, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    })
  }
}
