/** The package `@recentn/client`: what is packed, installed alone, and used as its users do. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Project } from './nodes.mjs'
import { pack } from './pack.mjs'
import { run as runProgram, say, step } from './steps.mjs'

const MAX_KILOBYTES = 120
const ALLOWED =
  /^(package\.json|cjs\/package\.json|README\.md|LICENSE|(esm|cjs)\/(client\/|kit\/|shared\/)?[\w-]+\.(js|d\.ts))$/

const RESOLUTIONS = {
  node16: ['--module', 'node16'],
  nodenext: ['--module', 'nodenext'],
  bundler: ['--module', 'preserve', '--moduleResolution', 'bundler'],
}
/** A page has no types of Node, and none are installed. */
const LIBRARY = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable']
const COMMON = ['--noEmit', '--strict', '--skipLibCheck', 'false', ...LIBRARY]

/** On each Node, and the types and a bundle once. */
export async function checkClientPackage(run, nodes) {
  const tarball = await step('@recentn/client: npm pack', () => packed(run))
  if (!tarball) return
  const projects = []
  for (const node of nodes) {
    const app = new Project(node, join(run.folder, `client-${node.major}`))
    await step(`Node ${node.version.slice(1)}, npm install @recentn/client: import and require`, () =>
      checkInstalled(run, app, tarball),
    )
    projects.push(app)
  }
  const app = projects.at(-1)
  await step('@recentn/client: types with TypeScript 5 and 7', () => checkTypes(run, app))
  await step('@recentn/client: a bundle for browsers', () => checkBundle(run, app))
}

async function packed(run) {
  const source = join(run.root, 'dist', '@recentn', 'client')
  const folder = join(run.folder, 'packed-client')
  mkdirSync(folder)
  const tarball = await pack(source, folder)
  const listed = await runProgram('tar', ['-tzf', tarball])
  const files = listed
    .trim()
    .split('\n')
    .map((line) => line.replace(/^package\//, ''))
  assert.deepEqual(
    files.filter((file) => !ALLOWED.test(file)),
    [],
    'files that have no place in the package',
  )
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const named = [...JSON.stringify(manifest).matchAll(/"\.\/([^"]+\.\w+)"/g)].map(([, path]) => path)
  const missing = [...named, 'README.md', 'LICENSE'].filter((file) => !files.includes(file))
  assert.deepEqual(missing, [], 'files that package.json names and the package has not')
  const kilobytes = Math.ceil(statSync(tarball).size / 1000)
  assert.ok(kilobytes <= MAX_KILOBYTES, `${kilobytes} kB are more than ${MAX_KILOBYTES}`)
  say(`@recentn/client: ${files.length} files, ${kilobytes} kB (at most ${MAX_KILOBYTES})`)
  return tarball
}

async function checkInstalled(run, app, tarball) {
  const room = join(run.root, 'test', 'package', 'rooms', 'uses-client.mjs')
  copyFileSync(room, join(app.folder, 'uses-client.mjs'))
  await app.npm('install', tarball)
  const modules = readdirSync(join(app.folder, 'node_modules')).filter((name) => !name.startsWith('.'))
  assert.deepEqual(modules.sort(), ['@recentn'], 'what is installed')
  await app.run('node', ['uses-client.mjs'])
}

/** As an ES module, as CommonJS, and as what TypeScript takes the project for; also by the resolution before `exports`. */
async function checkTypes(run, app) {
  const source = readFileSync(join(run.root, 'test', 'package', 'types', 'client.ts'), 'utf8')
  for (const ending of ['mts', 'cts', 'ts']) writeFileSync(join(app.folder, `client.${ending}`), source)
  await app.npm('install', 'typescript@5')
  const files = ['client.mts', 'client.cts', 'client.ts']
  const compile = (tsc, flags, names) => app.run('node', [tsc, ...COMMON, ...flags, ...names], { seconds: 120 })
  const ours = join(run.root, 'node_modules', 'typescript', 'bin', 'tsc')
  const older = join('node_modules', 'typescript', 'bin', 'tsc')
  for (const resolution of Object.values(RESOLUTIONS)) {
    for (const exact of ['true', 'false']) {
      await compile(older, [...resolution, '--exactOptionalPropertyTypes', exact], files)
    }
    await compile(ours, [...resolution, '--exactOptionalPropertyTypes'], files)
  }
  await compile(older, ['--module', 'commonjs', '--moduleResolution', 'node10'], ['client.ts'])
}

async function checkBundle(run, app) {
  const esbuild = join(run.root, 'node_modules', 'esbuild', 'bin', 'esbuild')
  const options = ['--bundle', '--platform=browser', '--format=esm', '--minify']
  const page = "createClient({ baseUrl: '/activity' }).groups.recent('g').then(console.log)\n"
  for (const [name, maximum] of [
    ['@recentn/client', 13_000],
    ['@recentn/client/calls', 6000],
  ]) {
    const entry = join(app.folder, 'page.mjs')
    writeFileSync(entry, `import { createClient } from '${name}'\n${page}`)
    const { length } = gzipSync(await app.run('node', [esbuild, entry, ...options]))
    assert.ok(length < maximum, `a page with one call of ${name} takes ${length} bytes, not less than ${maximum}`)
  }
}
