/**
 * `npm run test:adapters`: `store.within` in transactions of other libraries, and the programs of their pages, with the packages of
 * test/adapters on SQLite and on real servers. Arguments go to jest. Installs the packages, and checks that the adapters fit their types.
 */
import { spawn } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { endWithUs, ensureBuilt, ensureInstalled, ensureInstalledIn, fail, ROOT, run } from './lib.mjs'

const FOLDER = join(ROOT, 'test', 'adapters')
const [JEST, TSC] = [
  ['jest', 'bin', 'jest.js'],
  ['typescript', 'bin', 'tsc'],
].map((path) => join(ROOT, 'node_modules', ...path))

/** The SQLite driver is the one that was compiled here: the versions are the same. */
function takeDriver() {
  const path = ['node_modules', 'better-sqlite3', 'build', 'Release', 'better_sqlite3.node']
  cpSync(join(ROOT, ...path), join(FOLDER, ...path), { dereference: true })
}

/** Prisma would fetch a program that generating does not use: it gets another one. */
async function generatePrisma() {
  Object.assign(process.env, { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' })
  const prisma = join(FOLDER, 'node_modules', 'prisma', 'build', 'index.js')
  for (const engine of ['mysql', 'sqlite']) {
    const schema = join(FOLDER, 'prisma', `${engine}.prisma`)
    await run(`prisma generate for ${engine}`, process.execPath, [prisma, 'generate', '--schema', schema])
  }
}

function jest(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [JEST, '--config', join(ROOT, 'jest.adapters.config.js'), ...args], {
      cwd: ROOT,
      stdio: 'inherit',
    })
    const release = endWithUs(child)
    child.on('error', reject)
    child.on('close', (code) => {
      release()
      resolve(code ?? 1)
    })
  })
}

await ensureInstalled()
  .then(ensureBuilt)
  .then(() => ensureInstalledIn(FOLDER, ['--ignore-scripts']))
  .then(takeDriver)
  .then(generatePrisma)
  .then(() => run('types of the libraries', process.execPath, [TSC, '-p', FOLDER]))
  .catch(fail)
process.exitCode = await jest(process.argv.slice(2))
