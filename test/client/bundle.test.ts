/** A bundle of the built client for browsers has nothing of Node and nothing of the server. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { ROOT } from '../support/processes'

/** What the client has in common with the library: none of it needs Node. */
const SHARED = ['recentn-error', 'error-text', 'failures', 'handles', 'schema', 'kit/backoff', 'kit/faults']

const entry = join(ROOT, 'dist/src/client/index.js')

test('is small, and has the client, what depends on nothing and the parser of events in it only', async () => {
  const { outputFiles, metafile, warnings } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  expect(warnings).toEqual([])
  const files = Object.keys(metafile.inputs)
  expect(files.some((file) => file.endsWith('dist/src/client/index.js'))).toBe(true)
  const others = files.filter(
    (file) => !new RegExp(`dist/src/(client/|(${SHARED.join('|')})\\.js)|node_modules/eventsource-parser/`).test(file),
  )
  expect(others).toEqual([])
  const bytes = Buffer.from(outputFiles[0]?.contents ?? [])
  expect(bytes.toString('utf8')).not.toMatch(/\bBuffer\b|\bprocess\.|require\("/)
  expect(gzipSync(bytes).length).toBeLessThan(17_000)
})
