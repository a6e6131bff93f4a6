/**
 * `npm run test:package`: packs what would be published, installs it into projects outside of this folder as its users do,
 * on each Node that it is for, and uses it there.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  checkClient,
  checkNpx,
  checkOldest,
  checkOldTypeorm,
  checkPlain,
  checkStrictTypes,
  checkTypes,
  checkUncompiled,
  checkWithoutSqlite,
} from '../test/package/checks.mjs'
import { checkClientPackage } from '../test/package/client.mjs'
import { installNode, MAJORS } from '../test/package/nodes.mjs'
import { checkTarball, pack } from '../test/package/pack.mjs'
import { requiredEngines, startServers } from '../test/package/servers.mjs'
import { count, say, step } from '../test/package/steps.mjs'
import { ensureBuilt, ensureInstalled, fail, ROOT } from './lib.mjs'

await ensureInstalled().then(ensureBuilt).catch(fail)
const start = Date.now()
// Outside: from a folder below, Node would find what is installed here.
const folder = mkdtempSync(join(tmpdir(), 'recentn-package-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const servers = await startServers(ROOT)
try {
  await checkAll()
} finally {
  await servers.stop()
}
say(`${count.passed} checks passed, ${count.failed} failed, in ${((Date.now() - start) / 1000).toFixed(0)} s`)
process.exit(count.failed > 0 ? 1 : 0)

async function checkAll() {
  await step('database servers', async () => checkServers(servers.found))
  const tarball = await step('npm pack', async () => {
    mkdirSync(join(folder, 'packed'))
    const path = await pack(ROOT, join(folder, 'packed'))
    say(await checkTarball(ROOT, path))
    return path
  })
  if (!tarball) return
  const run = { root: ROOT, folder, tarball, servers: servers.found.filter(({ url }) => url) }
  const nodes = await step(`node@${MAJORS.join(', node@')}`, () =>
    inTurn(MAJORS, (major) => installNode(major, folder)),
  )
  if (!nodes) return

  // The drivers compile side by side.
  await Promise.all(nodes.map((node) => checkPlain(run, node)))
  const last = nodes.at(-1)
  // Side by side: what mostly compiles or installs, and what mostly runs.
  await Promise.all([checkServed(run, nodes), checkInstalled(run, last), checkClientPackage(run, nodes)])
}

async function checkServed(run, nodes) {
  const apps = await inTurn(nodes, (node) => checkWithoutSqlite(run, node))
  const app = apps.at(-1)
  if (!app) return
  await checkTypes(run, app)
  await checkClient(run, app)
}

async function checkInstalled(run, last) {
  await checkNpx(run, last)
  await checkUncompiled(run, last)
  await checkOldTypeorm(run, last)
  await checkOldest(run, last)
  await checkStrictTypes(run, last)
}

async function inTurn(things, work) {
  const results = []
  for (const thing of things) results.push(await work(thing))
  return results
}

/** Names each engine without a server, which fails the run where it is required. */
function checkServers(found) {
  for (const { engine, version, origin, reasons } of found) {
    if (reasons)
      say(`${engine}: NOT TESTED, no server was found:\n${reasons.map((reason) => `  - ${reason}`).join('\n')}`)
    else say(`${engine}: ${version}, from ${origin}`)
  }
  const missing = found.filter(({ engine, reasons }) => reasons && requiredEngines().includes(engine))
  if (missing.length > 0) throw new Error(`REQUIRE_ENGINES names ${missing.map(({ engine }) => engine).join(' and ')}`)
}
