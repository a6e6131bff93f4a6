/**
 * `npm run test:cluster`: a Galera cluster and a Group Replication group of three nodes each, a process on every node, and
 * faults: a node that is killed, cut off, or stopped; and an address with health checks, whose node is killed. The verdict is that
 * of a ledger outside of the database. On the group also processes that start at once, and a member without a majority; then a
 * primary and a replica, on which feeds are read. `--short` is for CI, and `--prepare` only makes the images; `--only galera`,
 * `--only group` and `--only replica` choose. Findings of the ledger are failures. Where there is no cluster, because there is no
 * Docker, no package, or because a server crashes, it says what was not tested: a failure only with RECENTN_REQUIRE_CLUSTER=1.
 */
import { cleanUp, run, sleep } from './docker-tools.mjs'
import { ensureBuilt, seconds } from './lib.mjs'

const isShort = process.argv.includes('--short')
const isOnlyPreparing = process.argv.includes('--prepare')
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
    if ((await nodes.crashed()).length > 0) return null
    return { counts, seconds: took }
  } catch (error) {
    // A timeout is a fault, except on a machine that may be too slow.
    if (isShort || (await nodes.crashed()).length > 0) notTested(what, error.stack ?? error)
    else {
      failed++
      say(`FAILED  ${what}: ${error.stack ?? error}`)
    }
    return null
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
      await sleep(isShort ? 5000 : 3000)
      await nodes.kill(3)
      await sleep(isShort ? 2000 : 5000)
      await nodes.restart(3)
      await together(nodes)
      await sleep(1000)
    },
  ],
  [
    'a node is cut off from the others',
    async (nodes) => {
      await sleep(isShort ? 5000 : 3000)
      await nodes.cut(2, 'nodes')
      await sleep(isShort ? 8000 : 10_000)
      await nodes.heal(2, 'nodes')
      await nodes.rejoined(2)
      await sleep(1000)
    },
  ],
  [
    'a node stops for a while, and continues',
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

async function oneAddress(nodes) {
  const { Address } = await import('../test/cluster/address.mjs')
  const address = new Address(nodes)
  await address.start()
  return load(nodes, 'an address with health checks, whose node is killed', { address }, async (names) => {
    await sleep(3000)
    await address.nodeLost(names)
    await sleep(1000)
  })
}

/** As many processes on one node, on two, and on three; in turns, because the machine does not stay as fast as it is. */
async function throughput(nodes) {
  const kinds = ['sends', 'deletes', 'appends', 'puts']
  const totals = new Map()
  for (const round of [1, 2]) {
    for (const count of round === 1 ? [1, 2, 3] : [3, 2, 1]) {
      const on = Array.from({ length: 6 }, (_, index) => (index % count) + 1)
      const what = `${count} writing node${count > 1 ? 's' : ''}`
      const options = { on, roles: ['send', 'receive', 'append', 'put'] }
      const ran = await load(nodes, what, options, () => sleep(10_000))
      if (ran === null) return
      const total = totals.get(what) ?? { seconds: 0, counts: {} }
      total.seconds += ran.seconds
      for (const kind of kinds) total.counts[kind] = (total.counts[kind] ?? 0) + ran.counts[kind]
      totals.set(what, total)
    }
  }
  const rate = ({ seconds: took, counts }, kind) => counts[kind] / took
  const [one] = totals.values()
  for (const [what, total] of totals) {
    const rates = kinds.map((kind) => {
      const per = rate(total, kind)
      return `${per.toFixed(0)} ${kind}/s (${(per / rate(one, kind)).toFixed(2)})`
    })
    say(`        ${what}: ${rates.join(', ')}`)
  }
}

/** Each process goes to the next host by itself; all have the same order. */
function severalHosts(nodes) {
  const address = { url: (database) => nodes.urlOfAll(database) }
  return load(nodes, 'several hosts in the URL, the first one is killed, and starts again', { address }, async () => {
    await sleep(3000)
    await nodes.kill(1)
    await sleep(5000)
    await nodes.restart(1)
    await together(nodes)
    await sleep(2000)
  })
}

/** Runs the parts in turn, until one fails: its nodes may be of no use to the rest. Resolves to whether all went well. */
async function inTurn(parts) {
  for (const [what, work] of parts) {
    const start = Date.now()
    try {
      const found = await work()
      say(`ok      ${what}${found ? `: ${found}` : ''} (${seconds(start)})`)
    } catch (error) {
      failed++
      say(`FAILED  ${what}: ${error.stack ?? error}`)
      return false
    }
  }
  return true
}

/** The checks that only a group of MySQL has. A member may have left the group. */
async function ofGroup(nodes) {
  const { startAtOnce } = await import('../test/cluster/group-starts.mjs')
  const { withoutMajority } = await import('../test/cluster/group-majority.mjs')
  return inTurn([
    ['processes start at once on an empty database', () => startAtOnce(nodes, 0)],
    ['processes start at once on a database of an earlier version', () => startAtOnce(nodes, 2)],
    ['a member has no majority', () => withoutMajority(nodes)],
  ])
}

/** Feeds that are read on a replica. */
async function ofReplica(nodes) {
  const { applierStops, oneIsHeld, replicaKilled } = await import('../test/cluster/replica-reads.mjs')
  const parts = [
    ['the replica applies in parallel, and a number is held', () => oneIsHeld(nodes)],
    ['readers on the replica, which stops to apply', () => applierStops(nodes, isShort ? 4 : 30)],
    ['readers on the replica, which is killed', () => replicaKilled(nodes)],
  ]
  await inTurn(isShort ? parts.slice(0, 2) : parts)
}

async function testCluster(server) {
  const { Nodes } = await import('../test/cluster/nodes.mjs')
  const start = Date.now()
  const nodes = new Nodes(server)
  await nodes.start()
  say(`${server.engine}: ${nodes.numbers.length} nodes (${seconds(start)})`)
  if (server.name === 'replica') return ofReplica(nodes)
  if (!isShort && server.name === 'group' && !(await ofGroup(nodes))) return
  if (!isShort && !(await load(nodes, 'nothing happens', {}, () => sleep(20_000)))) return
  if (!isShort && !(await load(nodes, 'appends alone', { roles: ['append'] }, () => sleep(20_000)))) return
  for (const [what, fault] of isShort ? [FAULTS[server.shortFault]] : FAULTS) {
    if (!(await load(nodes, what, {}, () => fault(nodes)))) return
    await together(nodes)
  }
  if (isShort && server.name !== 'galera') return
  if (!(await oneAddress(nodes))) return
  if (isShort) return
  if (await severalHosts(nodes)) await throughput(nodes)
}

async function test() {
  const { code } = await run('docker', ['info'], { timeoutMs: 15_000 })
  if (code !== 0) return notTested('A CLUSTER', 'no Docker engine answers')
  if (!isOnlyPreparing) await ensureBuilt()
  const { galera, prepareGalera } = await import('../test/cluster/galera.mjs')
  const { groupReplication, prepareGroupReplication } = await import('../test/cluster/group-replication.mjs')
  const { replica } = await import('../test/cluster/replica.mjs')
  for (const [server, prepare] of [
    [galera, prepareGalera],
    [groupReplication, prepareGroupReplication],
    [replica, prepareGroupReplication],
  ]) {
    if (process.argv.includes('--only') && only !== server.name) continue
    // Its image has HAProxy.
    const start = Date.now()
    const reason = (isShort || server === galera ? null : await prepareGalera()) ?? (await prepare())
    if (reason !== null) notTested(server.engine, reason)
    else if (isOnlyPreparing) say(`${server.engine}: the image is here (${seconds(start)})`)
    else await testCluster(server).catch((error) => notTested(server.engine, error.stack ?? error))
    await cleanUp()
  }
  if (!isOnlyPreparing) say(failed === 0 ? 'all is well' : `${failed} FAILED`)
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
