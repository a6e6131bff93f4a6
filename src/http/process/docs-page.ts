/**
 * The reference at `/docs`: the OpenAPI document as a page to read and to try. Its program is Swagger UI, which the build
 * leaves compressed in `dist/reference`. It holds no data and needs no key; what it tries is asked of the routes, with
 * the key that its user types in.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import express, { type Router } from 'express'
import { register } from '../router'
import { packageRoot } from '../version'
import { serveAsset, type Variants, variantsOf } from './assets'

const JAVASCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'

const FILES: Readonly<Record<string, { file: string; type: string }>> = {
  '/docs': { file: 'index.html', type: 'text/html; charset=utf-8' },
  '/docs/start.js': { file: 'start.js', type: JAVASCRIPT },
  '/docs/page.css': { file: 'page.css', type: CSS },
  '/docs/swagger-ui-bundle.js': { file: 'swagger-ui-bundle.js', type: JAVASCRIPT },
  '/docs/swagger-ui.css': { file: 'swagger-ui.css', type: CSS },
  '/docs/LICENSES.txt': { file: 'LICENSES.txt', type: 'text/plain; charset=utf-8' },
}

/** Only what this server serves, nothing inline, no frame around it; the icons in the styles are `data:`. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The files of the page, for the process; a router in the app of a user has none. */
export function docsPage(): Router {
  const router = express.Router({ strict: true, caseSensitive: true })
  for (const [place, { file, type }] of Object.entries(FILES)) {
    register(router, place, [['get', serveAsset(() => read(file), type, DOCS_POLICY)]])
  }
  return router
}

/** Throws where nothing was built. */
function read(file: string): Variants {
  const gzip = readFileSync(path.join(packageRoot(), 'dist', 'reference', `${file}.gz`))
  return variantsOf(gunzipSync(gzip), gzip)
}
