/** `node scripts/bundle.mjs <folder>`: the dashboard's script, styles, page and icon, for the build. */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const SOURCE = fileURLToPath(new URL('../src/dashboard', import.meta.url))
const folder = process.argv[2]

mkdirSync(folder, { recursive: true })
await build({
  entryPoints: { app: join(SOURCE, 'main.tsx') },
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'esm',
  splitting: true,
  // There is one, of what the chart needs; a second one would have to be served too, and fails here.
  chunkNames: 'chart',
  target: ['es2022', 'chrome111', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  tsconfig: join(SOURCE, 'tsconfig.json'),
  // A comment in the script would be the only place where licences are told of; docs/dashboard.md does so.
  legalComments: 'eof',
  logLevel: 'warning',
})
for (const file of ['index.html', 'icon.svg']) copyFileSync(join(SOURCE, file), join(folder, file))
