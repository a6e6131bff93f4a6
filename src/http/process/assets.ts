/**
 * Files that a page is made of, as the build has left them. They are read once, and kept as they are and compressed; a
 * browser asks each time whether what it has is still so.
 */
import { createHash } from 'node:crypto'
import express, { type Request, type RequestHandler, type Response, type Router } from 'express'
import { deliverKept } from '../output/sending'
import { register } from '../router'

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

/** A page, by the path of each of its files. */
export interface Page {
  files: Readonly<Record<string, { file: string; type: string }>>
  /** Its Content-Security-Policy. */
  policy: string
  /** Throws where nothing was built. */
  read(file: string): Variants
}

/** The files of a page, for the process; a router in the app of a user has none. */
export function pageRouter({ files, policy, read }: Page): Router {
  const router = express.Router({ strict: true, caseSensitive: true })
  for (const [place, { file, type }] of Object.entries(files)) {
    register(router, place, [['get', serveAsset(() => read(file), type, policy)]])
  }
  return router
}

/** Serves a file that `read` gives when it is first asked for, as a part of a page that obeys this policy. */
function serveAsset(read: () => Variants, type: string, policy: string): RequestHandler {
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
  deliverKept(response, request.method === 'HEAD' ? undefined : bytes)
}
