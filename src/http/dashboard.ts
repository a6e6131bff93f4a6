/**
 * The dashboard at `/`: a page, its scripts, styles and icon, as the build has made them. They hold no data and need no
 * key; the page asks the routes for what it shows, with the key that its user types in. They are read once, compressed
 * once, and kept: a browser asks each time whether what it has is still so.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import express, { type Request, type RequestHandler, type Response, type Router } from 'express'
import { register } from './router'
import { packageRoot } from './version'

const FILES: Readonly<Record<string, { file: string; type: string }>> = {
  '/': { file: 'index.html', type: 'text/html; charset=utf-8' },
  '/dashboard/app.js': { file: 'app.js', type: 'text/javascript; charset=utf-8' },
  '/dashboard/chart.js': { file: 'chart.js', type: 'text/javascript; charset=utf-8' },
  '/dashboard/app.css': { file: 'app.css', type: 'text/css; charset=utf-8' },
  '/dashboard/icon.svg': { file: 'icon.svg', type: 'image/svg+xml' },
}

/** Only what this server serves, nothing inline, no frame around it, and no text that becomes markup. */
export const DASHBOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

interface Variant {
  bytes: Buffer
  etag: string
}

/** The files of the dashboard, for the process; a router in the app of a user has none. */
export function dashboard(): Router {
  const router = express.Router({ strict: true, caseSensitive: true })
  for (const [place, { file, type }] of Object.entries(FILES)) register(router, place, [['get', serve(file, type)]])
  return router
}

function serve(file: string, type: string): RequestHandler {
  let variants: { plain: Variant; gzip: Variant } | undefined
  return (request, response) => {
    variants ??= read(file)
    const isZipped = request.acceptsEncodings(['gzip', 'identity']) === 'gzip'
    if (isZipped) response.setHeader('Content-Encoding', 'gzip')
    response.setHeader('Content-Type', type)
    send(request, response, isZipped ? variants.gzip : variants.plain)
  }
}

function send(request: Request, response: Response, { bytes, etag }: Variant): void {
  response.vary('Accept-Encoding')
  response.setHeader('Content-Security-Policy', DASHBOARD_POLICY)
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

/** Throws where nothing was built. */
function read(file: string): { plain: Variant; gzip: Variant } {
  const bytes = readFileSync(path.join(packageRoot(), 'dist', 'dashboard', file))
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return {
    plain: { bytes, etag: `"${hash}"` },
    gzip: { bytes: gzipSync(bytes, { level: 9 }), etag: `"${hash}-gzip"` },
  }
}
