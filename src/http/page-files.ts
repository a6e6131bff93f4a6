/**
 * The pages: the dashboard at `/`, and the reference at `/docs`, which shows the OpenAPI document in Swagger UI. The build
 * makes their files. Each file is read and compressed once, and then kept. The pages hold no data and need no key. They
 * call the routes beside them, with the key that their user types in or with the cookies of the app around them.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import express, { type RequestHandler, type Router } from 'express'
import { type KeptPage, keptPage, sendPage } from './output/pages'
import { SECURITY_HEADERS } from './process/headers'
import { register } from './router'
import { packageRoot } from './version'

interface BuiltFile {
  plain: KeptPage
  gzip: KeptPage
}

interface BuiltPage {
  /** The files, by their paths. */
  files: Readonly<Record<string, { file: string; type: string }>>
  contentSecurityPolicy: string
  /** Throws if the build has not made the file. */
  read(file: string): BuiltFile
}

const HTML = 'text/html; charset=utf-8'
const JAVASCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'

/** Only what this server serves, nothing inline, and no frame around it. */
const CLOSED_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]

/** In the dashboard no text may become markup either. */
export const DASHBOARD_POLICY = [
  ...CLOSED_POLICY,
  "img-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const DASHBOARD_FILES: BuiltPage['files'] = {
  '/': { file: 'index.html', type: HTML },
  '/dashboard/app.js': { file: 'app.js', type: JAVASCRIPT },
  '/dashboard/chart.js': { file: 'chart.js', type: JAVASCRIPT },
  '/dashboard/app.css': { file: 'app.css', type: CSS },
  '/dashboard/icon.svg': { file: 'icon.svg', type: 'image/svg+xml' },
}

/** `hasKeys`: the page asks its user for an API key where the server wants one. */
function dashboard(hasKeys: boolean): BuiltPage {
  return {
    files: DASHBOARD_FILES,
    contentSecurityPolicy: DASHBOARD_POLICY,
    read(file) {
      const built = readFileSync(path.join(packageRoot(), 'dist', 'dashboard', file))
      const plain = file === 'index.html' && !hasKeys ? withoutKeys(built) : built
      return builtFile(plain, gzipSync(plain, { level: 9 }))
    },
  }
}

/** `src/dashboard/session.ts` reads the attribute. */
function withoutKeys(page: Buffer): Buffer {
  return Buffer.from(page.toString().replace('<html ', '<html data-keys="none" '))
}

const REFERENCE: BuiltPage = {
  files: {
    '/docs': { file: 'index.html', type: HTML },
    '/docs/start.js': { file: 'start.js', type: JAVASCRIPT },
    '/docs/page.css': { file: 'page.css', type: CSS },
    '/docs/swagger-ui-bundle.js': { file: 'swagger-ui-bundle.js', type: JAVASCRIPT },
    '/docs/swagger-ui.css': { file: 'swagger-ui.css', type: CSS },
    '/docs/LICENSES.txt': { file: 'LICENSES.txt', type: 'text/plain; charset=utf-8' },
  },
  // Swagger UI's styles have icons as `data:`.
  contentSecurityPolicy: [...CLOSED_POLICY, "img-src 'self' data:"].join('; '),
  read(file) {
    const gzip = readFileSync(path.join(packageRoot(), 'dist', 'reference', `${file}.gz`))
    return builtFile(gunzipSync(gzip), gzip)
  },
}

function builtFile(plain: Buffer, gzip: Buffer): BuiltFile {
  return { plain: keptPage(plain), gzip: keptPage(gzip, plain, '-gzip') }
}

/**
 * The files of the pages, for the process and for `createDashboard`. A router of `createRouter` has none. `hasKeys`: the
 * dashboard asks its user for an API key where one is needed.
 */
export function pages({ hasKeys }: { hasKeys: boolean }): Router {
  const router = express.Router({ strict: true, caseSensitive: true })
  for (const { files, contentSecurityPolicy, read } of [dashboard(hasKeys), REFERENCE])
    for (const [place, { file, type }] of Object.entries(files))
      register(router, place, [['get', serveFile(() => read(file), type, contentSecurityPolicy)]])
  return router
}

/** Serves a file of a page; it is read when the first client asks for it. */
function serveFile(read: () => BuiltFile, type: string, contentSecurityPolicy: string): RequestHandler {
  const security = Object.entries({ ...SECURITY_HEADERS, 'Content-Security-Policy': contentSecurityPolicy })
  let built: BuiltFile | undefined
  return (request, response) => {
    built ??= read()
    const isZipped = request.acceptsEncodings(['gzip', 'identity']) === 'gzip'
    response.vary('Accept-Encoding')
    for (const [name, value] of security) response.setHeader(name, value)
    sendPage(request, response, isZipped ? built.gzip : built.plain, {
      'Content-Type': type,
      ...(isZipped && { 'Content-Encoding': 'gzip' }),
    })
  }
}
