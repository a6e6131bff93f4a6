/**
 * `node test/engines/schemas/make.mjs > test/engines/schemas/N.sql`: what a store of the built code leaves in a database, as
 * statements for every engine. Before a migration is added, this keeps what the version before it wrote: the code of that
 * version makes it, not the code that reads it later.
 *
 * Times are written as `{now-5000}`, so that what is in flight or delayed is so whenever the statements are run.
 * RECENTN_BUILT names another build.
 */
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

const built = process.env.RECENTN_BUILT ?? resolve(import.meta.dirname, '../../../dist/src/index.js')
const { openStore } = createRequire(import.meta.url)(built)
const store = await openStore({ url: 'sqlite::memory:', sweep: false, publish: false })
const { groups, policies, queues, schedules, feeds, keys, dataSource } = store

const [{ version }] = await dataSource.query('SELECT version FROM recentn_schema')

await policies.put('seen:', { capacity: 3, mode: 'distinct', ttlSeconds: 86_400 })
for (const member of ['ann', 'bob', 'ann']) await groups.append('seen:1', { member, payload: { by: member } })
await groups.put('log', { capacity: 4 })
for (let n = 0; n < 6; n++) await groups.append('log', { payload: { n, text: "it's é😀" }, eventId: `event-${n}` })

await queues.put('letters')
await queues.put('mail', {
  deadLetterQueue: 'letters',
  maxReceives: 5,
  onAck: 'archive',
  visibilityTimeoutSeconds: 43_200,
})
const sent = async (body, options) => (await queues.send('mail', body, options)).id
const handles = {}
for (const what of ['held', 'archived', 'dead']) {
  await sent({ what })
  const [{ receiptHandle }] = await queues.receive('mail')
  handles[what] = receiptHandle
}
await queues.ack('mail', handles.archived)
await queues.nack('mail', handles.dead, { dead: true, error: 'it was poison' })
await sent({ what: 'ready' }, { dedupId: 'only-once', priority: 3 })
await sent({ what: 'first of a' }, { messageGroup: 'a' })
await sent({ what: 'second of a' }, { messageGroup: 'a' })
await sent({ what: 'first of b' }, { messageGroup: 'b' })
await sent({ what: 'delayed' }, { delaySeconds: 3600 })
if (version >= 2) await sent({ what: 'with attributes' }, { attributes: { trace: 'abc' }, priority: -1 })
if (version >= 4) {
  await queues.put('steps', { groupConcurrency: 1, visibilityTimeoutSeconds: 43_200 })
  for (const step of [1, 2, 3]) await queues.send('steps', { step }, { messageGroup: 'order:7' })
  const [{ receiptHandle }] = await queues.receive('steps')
  handles.steps = receiptHandle
}
if (version >= 3) await schedules.put('nightly', { queue: 'letters', everySeconds: 86_400, body: { what: 'tick' } })

await feeds.putMany('users', [
  { key: 'fred', value: { city: 'Oslo' } },
  { key: 'jim', value: 1 },
  { key: 'gone', value: 2 },
])
await feeds.publish('users')
const { cursor } = await feeds.changes('users')
await feeds.moveCursor('users', 'search', cursor)
await feeds.put('users', 'jim', 3)
await feeds.delete('users', 'gone')
await feeds.publish('users')
await feeds.put('users', 'later', 'not published yet')

const { key } = await keys.create({ label: 'app', scopes: ['read'], prefix: 'seen:' })

const now = Date.now()
const literal = (value) => {
  if (value === null) return 'NULL'
  const text = String(value)
  // A statement is one line.
  if (text.includes('\n')) return `X'${Buffer.from(text).toString('hex')}'`
  const sinceNow = /^\d{13}$/.test(text) ? Number(text) - now : Number.NaN
  // No other number is that near to the time by chance.
  if (Math.abs(sinceNow) < 10 * 86_400_000) return `{now${sinceNow < 0 ? '' : '+'}${sinceNow}}`
  return `'${text.replaceAll("'", "''")}'`
}

const lines = [
  `-- Written by schemas/make.mjs at schema version ${version}.`,
  `-- held ${handles.held}`,
  ...(handles.steps ? [`-- steps ${handles.steps}`] : []),
  `-- key ${key}`,
  'DELETE FROM recentn_policy_epoch',
]
const tables = await dataSource.query(
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'recentn%' ORDER BY name",
)
for (const { name } of tables) {
  if (['recentn_schema', 'recentn_migrations', 'recentn_writers'].includes(name)) continue
  for (const row of await dataSource.query(`SELECT * FROM ${name}`)) {
    const values = Object.values(row).map(literal)
    lines.push(`INSERT INTO ${name} (${Object.keys(row).join(', ')}) VALUES (${values.join(', ')})`)
  }
}
await store.close()
process.stdout.write(`${lines.join('\n')}\n`)
