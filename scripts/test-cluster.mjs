/**
 * `npm run test:cluster`: a Galera cluster and a Group Replication group of three nodes each, a process on every node, and
 * faults: a node that is killed, cut off, or stopped. The verdict is that of a ledger outside of the database. `--short` is for
 * CI; `--only galera` and `--only group` choose. What the ledger finds is a failure. Where there is no cluster, because there is no
 * Docker, no package, or because a server crashes, it says what was not tested: a failure only with RECENTN_REQUIRE_CLUSTER=1.
 */
import { cleanUp, run, sleep } from './docker-tools.mjs'
import { ensureBuilt, seconds } from './lib.mjs'

const isShort = process.argv.includes('--short')
const only = process.argv[process.argv.indexOf('--only') + 1]

function say(line) {
  process.stdout.write(`cluster: ${line}\n`)
}

function notTested(what, reason) {
  say(`######## ${what} WAS NOT TESTED: ${reason}`)
  if (process.env.RECENTN_REQUIRE_CLUSTER === '1') process.exitCode = 1
}

let failed = 0

/** Runs the load while `during` does something, and says what came of it. */
async function load(nodes, what, options, during) {
  const { underLoad } = await import('../test/cluster/load.mjs')
  const start = Date.now()
  try {
    const { faults, errors, counts, seconds: took } = await underLoad(nodes, options, during)
    const told = Object.entries(counts).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []))
    const refused = Object.entries(errors).map(([name, count]) => `${name} ${count}`)
    say(
      `${faults.length > 0 ? 'FAILED' : 'ok    '}  ${what}: ${told.join(', ')} in ${took.toFixed(0)} s; errors: ${refused.join(', ') || 'none'} (${seconds(start)})`,
    )
    for (const fault of faults.slice(0, 20)) say(`        ${fault}`)
    if (faults.length > 0) failed++
    return (await nodes.crashed()).length === 0
  } catch (error) {
    notTested(what, error.stack ?? error)
    return false
  } finally {
    for (const node of await nodes.crashed()) {
      notTested(what, `the server of node ${node} has ended by itself:\n${await nodes.log(node, 60)}`)
    }
  }
}

/** Waits until all nodes are well again. */
async function together(nodes) {
  for (const node of nodes.numbers) await nodes.well(node, 90)
}

const FAULTS = [
  [
    'a node is killed, and starts again',
    async (nodes) => {
      await sleep(3000)
      await nodes.kill(3)
      await sleep(5000)
      await nodes.restart(3)
      await together(nodes)
      await sleep(2000)
    },
  ],
  [
    'a node is cut off from the others',
    async (nodes) => {
      await sleep(3000)
      await nodes.cut(2, 'nodes')
      await sleep(10_000)
      await nodes.heal(2, 'nodes')
      await nodes.rejoined(2)
      await sleep(2000)
    },
  ],
  [
    'a node stops for a while, and goes on',
    async (nodes) => {
      await sleep(3000)
      await nodes.pause(1)
      await sleep(10_000)
      await nodes.unpause(1)
      await nodes.rejoined(1)
      await sleep(2000)
    },
  ],
]

async function throughput(nodes) {
  for (const on of [[1], [1, 2], [1, 2, 3]]) {
    const lasting = async () => sleep(isShort ? 4000 : 12_000)
    await load(
      nodes,
      `${on.length} writing node${on.length > 1 ? 's' : ''}`,
      { on, roles: ['send', 'receive', 'append', 'put'] },
      lasting,
    )
  }
}

async function testCluster(server) {
  const { Nodes } = await import('../test/cluster/nodes.mjs')
  const start = Date.now()
  const nodes = new Nodes(server)
  await nodes.start()
  say(`${server.engine}: three nodes (${seconds(start)})`)
  if (!(await load(nodes, 'nothing happens', {}, () => sleep(isShort ? 8000 : 20_000)))) return
  for (const [what, fault] of isShort ? [FAULTS[server.shortFault]] : FAULTS) {
    if (!(await load(nodes, what, {}, () => fault(nodes)))) return
    await together(nodes)
  }
  if (!isShort) await throughput(nodes)
}

async function test() {
  const { code } = await run('docker', ['info'], { timeoutMs: 15_000 })
  if (code !== 0) return notTested('A CLUSTER', 'no Docker engine answers')
  await ensureBuilt()
  const { galera, prepareGalera } = await import('../test/cluster/galera.mjs')
  const { groupReplication, prepareGroupReplication } = await import('../test/cluster/group-replication.mjs')
  for (const [server, prepare] of [
    [galera, prepareGalera],
    [groupReplication, prepareGroupReplication],
  ]) {
    if (process.argv.includes('--only') && only !== server.name) continue
    const reason = await prepare()
    if (reason !== null) notTested(server.engine, reason)
    else await testCluster(server).catch((error) => notTested(server.engine, error.stack ?? error))
    await cleanUp()
  }
  say(failed === 0 ? 'all is well' : `${failed} FAILED`)
  if (failed > 0) process.exitCode = 1
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => cleanUp().then(() => process.exit(signal === 'SIGINT' ? 130 : 143)))
}
try {
  await test()
} finally {
  await cleanUp()
}
