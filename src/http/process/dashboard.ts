/**
 * The dashboard at `/`: a page, its scripts, styles and icon, as the build has made them. They hold no data and need no
 * key; the page asks the routes for what it shows, with the key that its user types in. They are read once, compressed
 * once, and kept: a browser asks each time whether what it has is still so.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import express, { type Router } from 'express'
import { register } from '../router'
import { packageRoot } from '../version'
import { serveAsset, type Variants, variantsOf } from './assets'

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

/** The files of the dashboard, for the process; a router in the app of a user has none. */
export function dashboard(): Router {
  const router = express.Router({ strict: true, caseSensitive: true })
  for (const [place, { file, type }] of Object.entries(FILES)) {
    register(router, place, [['get', serveAsset(() => read(file), type, DASHBOARD_POLICY)]])
  }
  return router
}

/** Throws where nothing was built. */
function read(file: string): Variants {
  const bytes = readFileSync(path.join(packageRoot(), 'dist', 'dashboard', file))
  return variantsOf(bytes, gzipSync(bytes, { level: 9 }))
}
