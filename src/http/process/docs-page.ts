/**
 * The reference at `/docs`: the OpenAPI document as a page to read and to try. Its program is Swagger UI, which the build
 * leaves compressed in `dist/reference`. It holds no data and needs no key; what it tries is asked of the routes, with
 * the key that its user types in.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Router } from 'express'
import { packageRoot } from '../version'
import { type Page, pageRouter, type Variants, variantsOf } from './assets'

const JAVASCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'

const FILES: Page['files'] = {
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

export const docsPage = (): Router => pageRouter({ files: FILES, policy: DOCS_POLICY, read })

function read(file: string): Variants {
  const gzip = readFileSync(path.join(packageRoot(), 'dist', 'reference', `${file}.gz`))
  return variantsOf(gunzipSync(gzip), gzip)
}
