/** Processes that start at once on different members of a group: on an empty database, and on one of an earlier version. */
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { must, until } from '../../scripts/docker-tools.mjs'
import { ChildProcess } from './child-process.mjs'

const require = createRequire(import.meta.url)
const { migrations } = require('../../dist/src/typeorm/index.js')

const PER_MEMBER = 2
const MEMBERS = 'SELECT MEMBER_STATE AS state FROM performance_schema.replication_group_members'

/** `from`: the version of the schema that the processes find; 0 for an empty database. */
export async function startAtOnce(nodes, from) {
  const database = `starts_${randomBytes(3).toString('hex')}`
  await nodes.query(1, `CREATE DATABASE ${database}`)
  if (from > 0) await migrateTo(nodes.url(1, database), from)
  await everywhere(
    nodes,
    `SELECT COUNT(*) AS n FROM ${from > 0 ? `${database}.recentn_migrations` : 'DUAL'}`,
    from || 1,
  )
  await everywhere(nodes, `SELECT COUNT(*) AS n FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '${database}'`, 1)
  const processes = nodes.numbers.flatMap((node) =>
    Array.from(
      { length: PER_MEMBER },
      (_, index) => new ChildProcess('opening.mjs', { name: `${node}-${index}`, url: nodes.url(node, database) }),
    ),
  )
  try {
    await Promise.all(processes.map((one) => one.hear('ready', 30)))
    for (const one of processes) one.tell('open')
    const outcomes = await Promise.all(processes.map((one) => one.hear('opened', 60)))
    for (const node of nodes.numbers) {
      const members = await nodes.query(node, MEMBERS)
      const states = members.map(({ state }) => state).join()
      must(states === nodes.numbers.map(() => 'ONLINE').join(), `the members that node ${node} sees are ${states}`)
    }
    const errors = outcomes.flatMap(({ error }) => error ?? [])
    must(errors.length === 0, errors.join('; '))
    await everywhere(nodes, `SELECT last_id + 1 AS n FROM ${database}.recentn_groups`, processes.length)
    await everywhere(
      nodes,
      `SELECT COUNT(DISTINCT name) * 100 + COUNT(*) AS n FROM ${database}.recentn_migrations`,
      migrations.length * 101,
    )
  } finally {
    for (const one of processes) one.end()
  }
}

async function migrateTo(url, version) {
  const { DataSource } = require('typeorm')
  const source = new DataSource({
    type: 'mysql',
    url,
    migrations: migrations.slice(0, version),
    migrationsTableName: 'recentn_migrations',
  })
  await source.initialize()
  await source.runMigrations({ transaction: 'none' })
  await source.destroy()
}

function everywhere(nodes, sql, expected) {
  return until(`all members answer ${expected}: ${sql}`, 20, async () => {
    const answers = await Promise.all(nodes.numbers.map((node) => nodes.query(node, sql).catch(() => [])))
    return answers.every(([row]) => Number(row?.n) === expected)
  })
}
