/** `node scripts/reference.mjs <folder>`: what the reference page at /docs is made of, compressed, for the build. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { transformSync } from 'esbuild'
import { BROWSERS } from './browsers.mjs'

const PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
const OWN = fileURLToPath(new URL('../src/reference', import.meta.url))
const folder = process.argv[2]

const write = (name, bytes) => writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))

mkdirSync(folder, { recursive: true })
for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css']) write(name, readFileSync(join(PACKAGE, name)))
for (const name of ['index.html', 'start.js']) write(name, readFileSync(join(OWN, name)))
// For the browsers that the dashboard is for: not all of them know rules in rules.
write('page.css', transformSync(readFileSync(join(OWN, 'page.css'), 'utf8'), { loader: 'css', target: BROWSERS }).code)
// The licence and notice of the page's program, and of what is bundled in it.
const notices = ['NOTICE', 'LICENSE', 'swagger-ui-bundle.js.LICENSE.txt'].map((name) =>
  readFileSync(join(PACKAGE, name), 'utf8'),
)
write('LICENSES.txt', notices.join('\n\n'))
