/**
 * `npm run test:examples`: packs what would be published, installs it into copies of the examples that are separate projects,
 * and runs the tests of each. The copies are workspaces of one project, so that they share what they install.
 */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Project } from '../test/package/nodes.mjs'
import { pack } from '../test/package/pack.mjs'
import { serving } from '../test/package/serve.mjs'
import { count, RunFailed, run, say, step } from '../test/package/steps.mjs'
import { ensureBuilt, ensureInstalled, fail, ROOT } from './lib.mjs'

const NODE_PROJECTS = ['shop', 'nestjs']

await ensureInstalled().then(ensureBuilt).catch(fail)
const start = Date.now()
// Outside: from a folder below, Node would find what is installed here.
const folder = mkdtempSync(join(tmpdir(), 'recentn-examples-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const copies = new Project({ major: process.versions.node, bin: join(process.execPath, '..'), headers: null }, folder)

await checkAll()
say(`${count.passed} checks passed, ${count.failed} failed, in ${((Date.now() - start) / 1000).toFixed(0)} s`)
process.exit(count.failed > 0 ? 1 : 0)

async function checkAll() {
  const tarball = await step('npm pack', () => {
    mkdirSync(join(folder, 'packed'))
    return pack(ROOT, join(folder, 'packed'))
  })
  if (!tarball || !(await step(`npm install in examples/{${NODE_PROJECTS}}`, () => install(tarball)))) return
  await Promise.all(NODE_PROJECTS.map((name) => step(`examples/${name}: its tests`, () => runTests(name))))
  await step('examples/python: its tests', runPython)
}

async function install(tarball) {
  for (const name of NODE_PROJECTS) {
    const filter = (path) => !/[\\/](node_modules|dist)$/.test(path)
    cpSync(join(ROOT, 'examples', name), join(folder, name), { recursive: true, filter })
    changeManifest(join(folder, name), ({ dependencies }) => {
      assert.match(
        dependencies.recentn,
        new RegExp(`^\\^${versionOf(ROOT).replaceAll('.', '\\.')}$`),
        'its own version',
      )
      dependencies.recentn = `file:${tarball}`
    })
  }
  changeManifest(folder, (manifest) => {
    manifest.workspaces = NODE_PROJECTS
  })
  await copies.npm('install', '--ignore-scripts')
  await takeDriver()
}

function changeManifest(place, change) {
  const file = join(place, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  change(manifest)
  writeFileSync(file, JSON.stringify(manifest))
}

function versionOf(place) {
  return JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')).version
}

/** The SQLite driver as it was compiled here, where it is the same version: that saves a minute. */
async function takeDriver() {
  const [here, there] = [ROOT, folder].map((place) => join(place, 'node_modules', 'better-sqlite3'))
  if (versionOf(here) === versionOf(there) && existsSync(join(here, 'build'))) {
    cpSync(join(here, 'build'), join(there, 'build'), { recursive: true })
  } else await copies.npm('rebuild', 'better-sqlite3')
}

function runTests(name) {
  return run('npm', ['test'], { cwd: join(folder, name), env: copies.env, seconds: 200 })
}

/** The worker in Python on a server in memory; skipped, loudly, where there is no Python. */
async function runPython() {
  const there = await run('python3', ['--version']).catch((error) => {
    if (error instanceof RunFailed) return null
    throw error
  })
  if (there === null) return say('python3: NOT TESTED, it is not here')
  const program = join(folder, 'node_modules', '.bin', 'recentn')
  await serving(copies, program, ['serve', '--port', '0'], { DATABASE_URL: 'sqlite::memory:' }, ({ url }) =>
    run('python3', ['-B', '-m', 'unittest'], {
      cwd: join(ROOT, 'examples', 'python'),
      env: { ...copies.env, RECENTN_URL: url },
    }),
  )
}
