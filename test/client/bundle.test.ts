/**
 * Bundles of the built client for browsers have nothing of Node and nothing of the server: of `recentn/client`, and of the
 * package `@recentn/client`, whose parts a bundler can leave out.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { ROOT } from '../support/processes'

/** The client's files, and those that it has in common with the library: all of `shared/` that needs no Node. */
const OURS = /(client\/\w+|shared\/(?!platform)[\w-]+)\.js$|^<stdin>$/

/** The compressed bytes of a page's script, and the files in it. */
async function bundled(program: string): Promise<{ bytes: number; files: string[] }> {
  const { outputFiles, metafile, warnings } = await build({
    stdin: { contents: program, resolveDir: ROOT },
    // Where `@recentn/client` is, as if it were installed.
    nodePaths: [join(ROOT, 'dist')],
    // Not that of the project, which leads these names to the sources.
    tsconfigRaw: {},
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  expect(warnings).toEqual([])
  const [output] = Object.values(metafile.outputs)
  const files = Object.entries(output?.inputs ?? {}).flatMap(([file, { bytesInOutput }]) => (bytesInOutput ? file : []))
  expect(files.filter((file) => !OURS.test(file))).toEqual([])
  const bytes = Buffer.from(outputFiles[0]?.contents ?? [])
  expect(bytes.toString('utf8')).not.toMatch(/\bBuffer\b|\bprocess\.|require\("/)
  return { bytes: gzipSync(bytes).length, files }
}

const oneCall = (from: string) =>
  `import { createClient } from '${from}'\ncreateClient({ baseUrl: '/activity' }).groups.recent('g').then(console.log)`

test('recentn/client is a CommonJS module, of which a bundler leaves out nothing', async () => {
  const { bytes, files } = await bundled(oneCall('./dist/src/client/index.js'))
  expect(files.some((file) => file.endsWith('dist/src/client/index.js'))).toBe(true)
  expect(bytes).toBeLessThan(17_000)
})

test('@recentn/client takes less than 13 kB', async () => {
  const { bytes, files } = await bundled(oneCall('@recentn/client'))
  expect(files.some((file) => file.endsWith('dist/@recentn/client/esm/client/index.js'))).toBe(true)
  expect(bytes).toBeLessThan(13_000)
})

test('@recentn/client/calls takes less than 6 kB for one call, and has no loops and no parser of events', async () => {
  const { bytes, files } = await bundled(oneCall('@recentn/client/calls'))
  expect(files.some((file) => file.endsWith('dist/@recentn/client/esm/client/groups.js'))).toBe(true)
  expect(files.filter((file) => /(client\/index|loops|watch|work|consume|stream)\.js$/.test(file))).toEqual([])
  expect(bytes).toBeLessThan(6000)
})

test('@recentn/client has the version of recentn, and depends on nothing', () => {
  const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
  const [ours, recentn] = [read('dist/@recentn/client/package.json'), read('package.json')]
  expect(ours.version).toBe(recentn.version)
  expect(ours.dependencies).toBeUndefined()
})
