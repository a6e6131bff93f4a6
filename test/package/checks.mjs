/** The checks for each kind of project. Every check is a separate step. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Project } from './nodes.mjs'
import { checkServe } from './serve.mjs'
import { withDatabase } from './servers.mjs'
import { RunFailed, say, step } from './steps.mjs'

const NOT_INSTALLED = 'a sqlite: URL needs the SQLite driver: npm install recentn better-sqlite3'
const NOT_COMPILED = 'npm rebuild better-sqlite3'

/** A project on a Node of `run`, with our scripts in it. */
function project(run, node, name) {
  const made = new Project(node, join(run.folder, `${name}-${node.major}`))
  const rooms = join(run.root, 'test', 'package', 'rooms')
  for (const file of readdirSync(rooms)) copyFileSync(join(rooms, file), join(made.folder, file))
  return made
}

/**
 * `npm install recentn better-sqlite3`, and nothing else; on Node 24, where a version 12 that is compiled there may abort
 * the process, with version 13 as docs/troubleshooting.md says. Then an app with its own Express and TypeORM.
 */
export async function checkPlain(run, node) {
  const app = project(run, node, 'plain')
  const driver = node.major < 24 ? 'better-sqlite3' : 'better-sqlite3@13'
  const title = `Node ${node.version.slice(1)}, npm install recentn ${driver}`
  const installed = await step(title, () => {
    if (driver !== 'better-sqlite3') app.override('better-sqlite3', '^13.0.0')
    return app.npm('install', run.tarball, 'better-sqlite3')
  })
  if (!installed) return
  await step(`${title}: import and require`, async () => {
    const urls = ['sqlite::memory:', 'sqlite:first.db']
    await app.run('node', ['uses-import.mjs', ...urls])
    await app.run('node', ['uses-require.cjs', ...urls])
  })
  await step(`${title}: npx recentn serve`, () => checkServe(app))
  await step(`${title}: an app with its own TypeORM and Express`, async () => {
    await app.npm('install', 'typeorm@1', 'express@5')
    assert.equal(copies(await app.npm('ls', 'typeorm', '--all', '--parseable')), 1, 'copies of TypeORM')
    await app.run('node', ['own-app.mjs', 'sqlite:app.db'])
  })
}

function copies(listed) {
  return listed.split('\n').filter((line) => /node_modules[\\/]typeorm$/.test(line)).length
}

/** `npm install recentn`: SQLite is refused with what to do, and the servers are used without it. */
export async function checkWithoutSqlite(run, node) {
  const app = project(run, node, 'server')
  const title = `Node ${node.version.slice(1)}, npm install recentn`
  const packages = [run.tarball, 'typeorm@1', 'express@5']
  const installed = await step(title, async () => {
    await app.npm('install', ...packages)
    assert.ok(!readdirSync(join(app.folder, 'node_modules')).includes('better-sqlite3'))
  })
  if (!installed) return
  await step(`${title}: SQLite is refused with what to do`, async () => {
    await app.run('node', ['refused.mjs', NOT_INSTALLED])
    const program = join(app.folder, 'node_modules', '.bin', 'recentn')
    const said = await app.run(program, ['serve', '--port', '0'], { code: 1 })
    assert.ok(said.includes(NOT_INSTALLED), said)
    assert.doesNotMatch(said, /^\s+at /m, 'a stack')
  })
  for (const { engine, url } of run.servers) {
    const on = (what, work) => step(`${title}, ${engine}: ${what}`, () => withDatabase(run.root, url, work))
    await on('import and require', async (database) => {
      await app.run('node', ['uses-import.mjs', database])
      await app.run('node', ['uses-require.cjs', database])
    })
    await on('an app with its own TypeORM and Express', (database) => app.run('node', ['own-app.mjs', database]))
    await on('npx recentn serve', (database) => checkServe(app, { DATABASE_URL: database }))
  }
  return app
}

/** `npx recentn serve` where nothing is installed: npx has recentn, and what is missing is said in one line. */
export async function checkNpx(run, node) {
  const empty = project(run, node, 'npx')
  await step(
    `Node ${node.version.slice(1)}, npx recentn serve in an empty folder says how to get SQLite's driver`,
    async () => {
      const said = await empty.run('npx', ['--yes', '--package', run.tarball, 'recentn', 'serve'], {
        code: 1,
        seconds: 400,
      })
      const ours = said.split('\n').filter((line) => line.startsWith('recentn: '))
      assert.equal(ours.at(-1), `recentn: ${NOT_INSTALLED}`, said)
      assert.doesNotMatch(said, /^\s+at /m, 'a stack')
    },
  )
}

/** Installed, but npm was not let compile it. */
export async function checkUncompiled(run, node) {
  const app = project(run, node, 'uncompiled')
  await step('an SQLite driver without its compiled part is refused with what to do', async () => {
    await app.npm('install', '--ignore-scripts', run.tarball, 'better-sqlite3')
    await app.run('node', ['refused.mjs', NOT_COMPILED])
    const said = await app.run('npx', ['recentn', 'migrate'], { code: 1 })
    assert.ok(said.includes(NOT_COMPILED), said)
    assert.doesNotMatch(said, /^\s+at /m, 'a stack')
  })
}

/** TypeORM 0.3 in its newest version, as the only copy. npm refuses an older one. */
export async function checkOldTypeorm(run, node) {
  const app = project(run, node, 'old')
  await step('an app on TypeORM 0.3', async () => {
    await app.npm('install', '--ignore-scripts', 'express@5', 'typeorm@0.3', run.tarball)
    assert.equal(copies(await app.npm('ls', 'typeorm', '--all', '--parseable')), 1, 'copies of TypeORM')
    const [server] = run.servers
    if (!server) return say('(only that it installs: there is no server)')
    await withDatabase(run.root, server.url, (database) => app.run('node', ['own-app.mjs', database]))
    await withDatabase(run.root, server.url, async (database) => {
      assert.equal(await app.run('node', ['uses-require.cjs', database]), '', 'its own store warns of nothing')
    })
  })
  const older = project(run, node, 'older')
  await step('npm refuses to install it beside an older TypeORM', async () => {
    await older.npm('install', '--package-lock-only', '--ignore-scripts', '--save-exact', 'typeorm@0.3.20')
    const install = older.npm('install', '--package-lock-only', '--ignore-scripts', run.tarball)
    await assert.rejects(install, (error) => error instanceof RunFailed && /ERESOLVE/.test(error.output))
  })
}

/** The router in an app on Express 4, with a DataSource in TypeORM's oldest version that is allowed. */
export async function checkOldest(run, node, tarball = run.tarball) {
  const app = project(run, node, 'oldest')
  await step('an app on Express 4 and TypeORM 1.0.0', async () => {
    await app.npm('install', '--ignore-scripts', 'express@4', 'typeorm@1.0.0', tarball)
    const [server] = run.servers
    if (!server) return say('(only that it installs: there is no server)')
    await withDatabase(run.root, server.url, (database) => app.run('node', ['own-app.mjs', database]))
  })
}

const RESOLUTIONS = {
  node16: ['--module', 'node16'],
  nodenext: ['--module', 'nodenext'],
  bundler: ['--module', 'preserve', '--moduleResolution', 'bundler'],
}

/** A TypeScript user who checks libraries too (`skipLibCheck: false`) and has no types of better-sqlite3. */
export async function checkTypes(run, app) {
  const source = readFileSync(join(run.root, 'test', 'package', 'types', 'app.ts'), 'utf8')
  const folder = join(app.folder, 'types')
  mkdirSync(folder, { recursive: true })
  const files = ['app.mts', 'app.cts', 'app.ts'].map((name) => join(folder, name))
  for (const file of files) writeFileSync(file, source)
  const common = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--types', 'node', ...files]
  await step('types with TypeScript 5: node16, nodenext, bundler, each with and without esModuleInterop', async () => {
    await app.npm('install', 'typescript@5')
    const inTurn = async (resolution) => {
      for (const interop of ['true', 'false']) {
        await app.run('npx', ['tsc', ...common, ...resolution, '--esModuleInterop', interop], { seconds: 120 })
      }
    }
    await Promise.all(Object.values(RESOLUTIONS).map(inTurn))
  })
  // It has no esModuleInterop to turn off.
  await step('types with TypeScript 7: node16, nodenext, bundler', async () => {
    const tsc = join(run.root, 'node_modules', 'typescript', 'bin', 'tsc')
    for (const resolution of Object.values(RESOLUTIONS)) await app.run('node', [tsc, ...common, ...resolution])
  })
}

const STRICT = [
  ...[
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--skipLibCheck',
    'false',
  ],
  ...['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noPropertyAccessFromIndexSignature'],
  ...['--noImplicitOverride', '--noImplicitReturns', '--noFallthroughCasesInSwitch', '--verbatimModuleSyntax'],
  ...['--isolatedModules', '--allowUnreachableCode', 'false'],
]

/** A TypeScript user with every flag that is strict, whose Express has types of version 4 or 5. */
export async function checkStrictTypes(run, node) {
  for (const major of [4, 5]) {
    const app = project(run, node, `strict${major}`)
    await step(`types with every strict flag, beside Express ${major}`, async () => {
      const packages = [`express@${major}`, `@types/express@${major}`, '@types/node@20', 'typescript@5']
      await app.npm('install', '--ignore-scripts', run.tarball, ...packages)
      copyFileSync(join(run.root, 'test', 'package', 'types', 'strict.ts'), join(app.folder, 'strict.mts'))
      await app.run('npx', ['tsc', ...STRICT, 'strict.mts'], { seconds: 120 })
      // An example whose own functions take this Express's Request.
      copyFileSync(join(run.root, 'examples', 'mounted-router.ts'), join(app.folder, 'mounted-router.mts'))
      const plain = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022']
      await app.run('npx', ['tsc', ...plain, 'mounted-router.mts'], { seconds: 120 })
    })
  }
}

/** `recentn/client` in a browser's bundle: nothing of Node, and nothing of the server. */
export async function checkClient(run, app) {
  await step('recentn/client: import, require, types, and a bundle for browsers', async () => {
    const entry = join(app.folder, 'client-entry.mjs')
    writeFileSync(
      entry,
      "import * as client from 'recentn/client'\nif (Object.keys(client).length === 0) throw new Error()\n",
    )
    await app.run('node', [entry])
    await app.run('node', ['-e', "if (Object.keys(require('recentn/client')).length === 0) throw new Error()"])
    const typed = join(app.folder, 'types', 'client.mts')
    writeFileSync(typed, "import * as client from 'recentn/client'\nexport const there: object = client\n")
    const tsc = join(run.root, 'node_modules', 'typescript', 'bin', 'tsc')
    const strict = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      'false',
      '--target',
      'es2022',
      '--lib',
      'es2023,dom,dom.iterable',
    ]
    await app.run('node', [tsc, ...strict, '--types', '', ...RESOLUTIONS.bundler, typed])
    const esbuild = join(run.root, 'node_modules', 'esbuild', 'bin', 'esbuild')
    const bundle = await app.run('node', [esbuild, entry, '--bundle', '--platform=browser', '--format=esm', '--minify'])
    assert.ok(bundle.length < 100_000, `the bundle has ${bundle.length} characters`)
  })
}
