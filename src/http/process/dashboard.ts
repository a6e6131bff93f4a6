/**
 * The dashboard at `/`: a page, its scripts, styles and icon, as the build has made them. They hold no data and need no
 * key; the page asks the routes for what it shows, with the key that its user types in. They are read once, compressed
 * once, and kept: a browser asks each time whether what it has is still so.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Router } from 'express'
import { packageRoot } from '../version'
import { type Page, pageRouter, type Variants, variantsOf } from './assets'

const FILES: Page['files'] = {
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

export const dashboard = (): Router => pageRouter({ files: FILES, policy: DASHBOARD_POLICY, read })

function read(file: string): Variants {
  const bytes = readFileSync(path.join(packageRoot(), 'dist', 'dashboard', file))
  return variantsOf(bytes, gzipSync(bytes, { level: 9 }))
}
