/** The load on a cluster: a process for each node, and the verdict on the answers that they got. */
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { sleep, until } from '../../scripts/docker-tools.mjs'
import { ChildProcess } from './child-process.mjs'
import { judge } from './judge.mjs'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

export const ROLES = ['send', 'receive', 'append', 'put', 'follow', 'poll', 'write']

/**
 * Runs the load while `during` does something; resolves to the verdict. There is a process for each number of `on`, with that node
 * as its own; or with `address`, which leads to one of them.
 */
export async function underLoad(nodes, { on = nodes.numbers, roles = ROLES, visibilitySeconds = 10, address }, during) {
  const names = await makeReady(nodes, randomBytes(3).toString('hex'))
  const urlOf = (node) => address?.url(names.database) ?? nodes.url(node, names.database)
  // Plain SQL has one host, and its order is that of one node.
  const own = address ? roles.filter((role) => role !== 'write') : roles
  const processes = on.map((node, index) => {
    const name = `${String.fromCharCode(97 + index)}${node}`
    return new ChildProcess('process.mjs', { url: urlOf(node), name, names, visibilitySeconds, roles: own })
  })
  try {
    await Promise.all(processes.map((one) => one.hear('working', 60)))
    const began = Date.now()
    await during(names)
    for (const one of processes) one.tell('produce no more')
    await Promise.all(processes.map((one) => one.hear('produced', 90)))
    const seconds = (Date.now() - began) / 1000
    const store = await openStore({ url: urlOf(on[0]), migrate: false, defaultCapacity: 10_000 })
    try {
      await quiet(store, names, roles, visibilitySeconds)
      await everywhere(nodes, names)
      // A consumer that waits looks again after a second.
      await sleep(1500)
      for (const one of processes) one.tell('end')
      const heard = await Promise.all(processes.map((one) => one.hear('heard', 60)))
      const verdict = await judge(
        store,
        names,
        heard.map((message) => message.heard),
        visibilitySeconds,
      )
      return { ...verdict, seconds, names }
    } finally {
      await store.close()
    }
  } finally {
    for (const one of processes) one.end()
  }
}

/** A database with a queue, a feed, and a table to be polled, and all nodes have it. */
async function makeReady(nodes, mark) {
  const names = {
    database: `load_${mark}`,
    queue: 'work',
    group: 'group:',
    groups: 16,
    feed: 'states',
    table: 'jobs',
    door: 'door',
  }
  await nodes.query(1, `CREATE DATABASE ${names.database}`)
  // One of them makes the tables.
  const store = await openStore({ url: nodes.urlOfAll(names.database), defaultCapacity: 10_000 })
  await store.queues.put(names.queue, { maxReceives: null })
  await store.queues.put(names.door)
  await store.close()
  await nodes.query(
    1,
    `CREATE TABLE ${names.database}.jobs (id BIGINT NOT NULL PRIMARY KEY, status VARCHAR(40) NOT NULL, KEY (status))`,
  )
  const rows = Array.from({ length: 600 }, (_, id) => `(${id}, 'ready')`)
  await nodes.query(1, `INSERT INTO ${names.database}.jobs VALUES ${rows.join(', ')}`)
  for (const node of nodes.numbers) {
    await until(`node ${node} has the load's tables`, 20, async () => {
      const [row] = await nodes.query(node, `SELECT COUNT(*) AS jobs FROM ${names.database}.jobs`).catch(() => [{}])
      return row.jobs === 600
    })
  }
  return names
}

/** Waits until every node has all that was put, with its numbers: consumers read from different nodes. */
function everywhere(nodes, { database }) {
  const sql = `SELECT COUNT(*) AS entries, COUNT(sync_id) AS numbered, MAX(sync_id) AS last FROM ${database}.recentn_feed_entries`
  return until('all nodes have all entries of the feed', 60, async () => {
    const all = await Promise.all(nodes.numbers.map((node) => nodes.query(node, sql).catch(() => [])))
    const [first, ...others] = all.map(([row]) => JSON.stringify(row ?? null))
    const [row] = all[0]
    return row !== undefined && row.entries === row.numbered && others.every((one) => one === first)
  })
}

/** Waits until the queue is empty, and all jobs are done if the processes poll. */
function quiet(store, names, roles, visibilitySeconds) {
  return until('the queue is empty and the jobs are done', 60 + 2 * visibilitySeconds, async () => {
    const [{ messages }] = await store.dataSource.query(
      `SELECT (SELECT COUNT(*) FROM recentn_queue_messages JOIN recentn_queues q ON q.id = queue_id WHERE q.queue <> '${names.door}') + ` +
        '(SELECT COUNT(*) FROM recentn_sends) + (SELECT COUNT(*) FROM recentn_appends) AS messages',
    )
    if (Number(messages) > 0) return false
    if (!roles.includes('poll')) return true
    const [{ left }] = await store.dataSource.query(
      `SELECT COUNT(*) AS \`left\` FROM ${names.table} WHERE status <> 'done'`,
    )
    return Number(left) === 0
  })
}
