/**
 * Files that a page is made of, as the build has left them. They are read once, and kept as they are and compressed; a
 * browser asks each time whether what it has is still so.
 */
import { createHash } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'

export interface Variants {
  plain: Variant
  gzip: Variant
}

interface Variant {
  bytes: Buffer
  etag: string
}

/** Both forms of a file, under tags that tell them apart. */
export function variantsOf(plain: Buffer, gzip: Buffer): Variants {
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  return { plain: { bytes: plain, etag: `"${hash}"` }, gzip: { bytes: gzip, etag: `"${hash}-gzip"` } }
}

/** Serves a file that `read` gives when it is first asked for, as a part of a page that obeys this policy. */
export function serveAsset(read: () => Variants, type: string, policy: string): RequestHandler {
  let variants: Variants | undefined
  return (request, response) => {
    variants ??= read()
    const isZipped = request.acceptsEncodings(['gzip', 'identity']) === 'gzip'
    if (isZipped) response.setHeader('Content-Encoding', 'gzip')
    response.setHeader('Content-Type', type)
    response.setHeader('Content-Security-Policy', policy)
    send(request, response, isZipped ? variants.gzip : variants.plain)
  }
}

function send(request: Request, response: Response, { bytes, etag }: Variant): void {
  response.vary('Accept-Encoding')
  response.setHeader('Cache-Control', 'no-cache')
  response.setHeader('ETag', etag)
  if (request.fresh) {
    for (const name of ['Content-Type', 'Content-Encoding']) response.removeHeader(name)
    response.status(304).end()
    return
  }
  response.setHeader('Content-Length', bytes.length)
  response.end(request.method === 'HEAD' ? undefined : bytes)
}
