/** `node scripts/bundle.mjs <folder>`: the dashboard's script, styles, page and icon, for the build. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { BROWSERS } from './browsers.mjs'

const SOURCE = fileURLToPath(new URL('../src/dashboard', import.meta.url))
const { version: VERSION } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const folder = process.argv[2]

mkdirSync(folder, { recursive: true })
await build({
  entryPoints: { app: join(SOURCE, 'app.tsx') },
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'esm',
  splitting: true,
  // There is one, of what the chart needs; a second one would have to be served too, and fails here.
  chunkNames: 'chart',
  target: ['es2022', ...BROWSERS],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  tsconfig: join(SOURCE, 'tsconfig.json'),
  define: { RECENTN_VERSION: JSON.stringify(VERSION) },
  // A comment in the script would be the only place where licences are told of; docs/dashboard.md does so.
  legalComments: 'eof',
  logLevel: 'warning',
})
for (const file of ['index.html', 'icon.svg']) copyFileSync(join(SOURCE, file), join(folder, file))
