/**
 * A database of each earlier schema version is migrated and continues where it was. Its content is in `schemas/N.sql`,
 * which a store of that version wrote; the tables are made by that version's migrations. And a store that is open continues
 * when newer code migrates its database.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DataSource } from 'typeorm'
import { type Message, type OpenOptions, openStore, type SendOptions, type Store } from '../../src/index'
import type { MessageState } from '../../src/shared/queue-types'
import { migrations } from '../../src/typeorm'
import { idsOf, refusal, userSource } from '../contract/context'
import { type Database, describeEngine, ENGINES, freshDatabase } from '../support/engines'
import { openedOf } from '../support/opened'
import { exercise } from './exercise'

const VERSIONS = Array.from({ length: migrations.length }, (_, n) => n + 1)

const fileOf = (version: number) => join(__dirname, `schemas/${version}.sql`)

test('every earlier version has its rows', () => {
  // A migration is added: with the code before it, `node test/engines/schemas/make.mjs > test/engines/schemas/N.sql`.
  expect(VERSIONS.slice(0, -1).filter((version) => !existsSync(fileOf(version)))).toEqual([])
})

/** Receipt handles of messages in flight, and an API key. */
interface Kept {
  held: string
  steps: string
  key: string
}

/** Makes the tables of the version and fills them, with times as if it was done just now. */
async function fillOldDatabase(url: string, version: number): Promise<Kept> {
  const { options } = userSource(url)
  const source = new DataSource({
    ...options,
    entities: [],
    migrations: migrations.slice(0, version),
    migrationsTableName: 'recentn_migrations',
  })
  await source.initialize()
  try {
    await source.runMigrations({ transaction: 'none' })
    const text = readFileSync(fileOf(version), 'utf8')
    const now = Date.now()
    for (const line of text
      .trim()
      .split('\n')
      .filter((each) => !each.startsWith('--'))) {
      await source.query(line.replaceAll(/\{now([-+]\d+)\}/g, (_, offset) => String(now + Number(offset))))
    }
    const noted = (name: string) => new RegExp(`^-- ${name} (.+)$`, 'm').exec(text)?.[1] ?? ''
    return { held: noted('held'), steps: noted('steps'), key: noted('key') }
  } finally {
    await source.destroy()
  }
}

const payloads = (answer: { items: readonly { payload: unknown }[] }) =>
  answer.items.map(({ payload }) => (payload as { n: number }).n)

async function expectGroups({ groups }: Store): Promise<void> {
  const log = await groups.recent('log')
  expect([idsOf(log), payloads(log), log.totalAppended, log.capacity]).toEqual([[5n, 4n, 3n, 2n], [5, 4, 3, 2], 6n, 4])
  expect(log.items[0]?.payload).toEqual({ n: 5, text: "it's é😀" })
  expect((await groups.append('log', { eventId: 'event-5' })).id).toBe(5n)
  expect((await groups.append('log', { payload: { n: 6 } })).id).toBe(6n)
  expect(payloads(await groups.recent('log'))).toEqual([6, 5, 4, 3])
  const seen = await groups.recent('seen:1')
  expect([seen.mode, seen.items.map(({ member }) => member)]).toEqual(['distinct', ['ann', 'bob']])
  expect((await groups.memberItems('bob')).items.map(({ group }) => group)).toEqual(['seen:1'])
  await groups.append('seen:1', { member: 'bob' })
  expect((await groups.recent('seen:1')).items.map(({ member }) => member)).toEqual(['bob', 'ann'])
  await groups.append('seen:2', { member: 'ann' })
  expect((await groups.get('seen:2'))?.policy).toBe('seen:')
}

async function expectQueues({ queues, schedules: all }: Store, version: number, { held }: Kept): Promise<void> {
  expect(await queues.get('mail')).toMatchObject({
    deadLetterQueue: 'letters',
    maxReceives: 5,
    onAck: 'archive',
    counts: { ready: version >= 2 ? 5 : 4, inFlight: 1, delayed: 1, archived: 1 },
  })
  expect((await queues.send('mail', 'again', { dedupId: 'only-once' })).sent).toBe(false)
  expect((await queues.ackMany('mail', [held])).acked).toHaveLength(1)
  const messages = await queues.receive('mail', { limit: 10 })
  expect(messages.map(({ body, attributes }) => [(body as { what: string }).what, attributes])).toEqual([
    ['ready', {}],
    ['first of a', {}],
    ['first of b', {}],
    ['second of a', {}],
    ...(version >= 2 ? [['with attributes', { trace: 'abc' }]] : []),
  ])
  await queues.ackMany(
    'mail',
    messages.map(({ receiptHandle }) => receiptHandle),
  )
  const archived = (await queues.peek('mail', { state: 'archived' })).messages
  expect(archived).toHaveLength(messages.length + 2)
  expect((await queues.peek('mail', { state: 'delayed' })).messages[0]?.body).toEqual({ what: 'delayed' })
  const [dead] = (await queues.peek('letters')).messages
  expect([dead?.body, dead?.lastError]).toEqual([{ what: 'dead' }, 'it was poison'])
  expect((await queues.redrive('letters')).moved).toBe(1)
  expect((await queues.receive('mail'))[0]?.body).toEqual({ what: 'dead' })
  const { schedules } = await all.list()
  expect(schedules.map(({ schedule, queue }) => [schedule, queue])).toEqual(
    version >= 3 ? [['nightly', 'letters']] : [],
  )
}

/** In a queue with `groupConcurrency: 1`: which message is next in its group when each one is done. */
async function stepsOf({ queues }: Store): Promise<unknown[]> {
  const steps: unknown[] = []
  for (;;) {
    const messages = await queues.receive('steps', { limit: 10 })
    if (messages.length === 0) return steps
    steps.push(messages.map(({ body }) => (body as { step: number }).step))
    const handles = messages.map(({ receiptHandle }) => receiptHandle)
    await queues.ackMany('steps', handles)
  }
}

async function expectGroupLimit(store: Store, { steps }: Kept): Promise<void> {
  expect(await stepsOf(store)).toEqual([])
  await store.queues.ack('steps', steps)
  expect(await stepsOf(store)).toEqual([[2], [3]])
}

async function expectFeeds({ feeds }: Store): Promise<void> {
  const { cursor } = (await feeds.cursor('users', 'search')) ?? { cursor: -1n }
  const page = await feeds.changes('users', { after: cursor })
  expect(page.changes.map(({ key, value, deleted }) => [key, value, deleted])).toEqual([
    ['jim', 3, false],
    ['gone', null, true],
  ])
  await feeds.publish('users')
  const next = await feeds.changes('users', { after: page.cursor })
  expect(next.changes.map(({ key, value }) => [key, value])).toEqual([['later', 'not published yet']])
  expect((await feeds.get('users', 'fred'))?.value).toEqual({ city: 'Oslo' })
}

/** The changes of tables that a later version may make while stores of this one are open: add columns that may be null, and tables. */
async function migrateBeyond({ dataSource }: Store): Promise<void> {
  const isSqlite = dataSource.options.type === 'better-sqlite3'
  const sql = isSqlite
    ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'recentn%'"
    : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()'
  for (const { name } of await dataSource.query(sql)) {
    if (name !== 'recentn_migrations')
      await dataSource.query(`ALTER TABLE ${name} ADD COLUMN of_later varchar(20) NULL`)
  }
  await dataSource.query('CREATE TABLE recentn_later (id integer NOT NULL PRIMARY KEY)')
  await dataSource.query('UPDATE recentn_schema SET version = version + 1')
}

describe.each(ENGINES)('upgrades', (engine) => {
  describeEngine(engine, 'a database', () => {
    let database: Database
    const stores: Store[] = []
    const open = async (options: Partial<OpenOptions> = {}): Promise<Store> => {
      const store = await openStore({ url: database.url, ...options })
      stores.push(store)
      return store
    }
    beforeEach(async () => {
      database = await freshDatabase(engine)
    })
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close()
      await database.drop()
    })

    const kept = VERSIONS.filter((version) => existsSync(fileOf(version)))
    test.each(kept)('of schema version %i continues where it was', async (version) => {
      const old = await fillOldDatabase(database.url, version)
      const store = await open({ sweep: false, publish: false, tick: false })
      const [schema] = await store.dataSource.query('SELECT version FROM recentn_schema')
      expect(Number(schema.version)).toBe(migrations.length)
      await expectGroups(store)
      await expectQueues(store, version, old)
      if (version >= 4) await expectGroupLimit(store, old)
      await expectFeeds(store)
      expect(await store.keys.verify(old.key)).toMatchObject({ scopes: ['read'], prefix: 'seen:' })
      await exercise(await open())
    })

    test('in which an old process has deleted a message of a limited group: a sweep frees the group, and only that one', async () => {
      const store = await open({ sweep: false })
      const { queues, dataSource } = store
      const limitId = async (queue: string) =>
        (await dataSource.query(`SELECT group_limit_id AS id FROM recentn_queues WHERE queue = '${queue}'`))[0].id
      for (const queue of ['steps', 'others']) {
        await queues.put(queue, { groupConcurrency: 1 })
        for (const step of [1, 2, 3]) await queues.send(queue, { step }, { messageGroup: 'order:7' })
      }
      const others = await limitId('others')
      const [first] = await queues.receive('steps')
      await dataSource.query(`DELETE FROM recentn_queue_messages WHERE id = ${first?.id}`)
      expect(await stepsOf(store)).toEqual([])
      await openedOf(store).queues.sweep()
      expect(await limitId('others')).toEqual(others)
      expect(await stepsOf(store)).toEqual([[2], [3]])
    })

    test('in which an old process has ended a message with a key: a sweep frees those behind it, and no others', async () => {
      const store = await open({ sweep: false })
      const { queues, dataSource } = store
      const letters = await queues.put('letters')
      await queues.put('keyed', { deadLetterQueue: letters.queue, groupConcurrency: 1 })
      const keys = ['deleted', 'dead', 'moved', 'again', 'held', 'later']
      const send = (body: string, key: string, more: SendOptions = {}) =>
        queues.send('keyed', body, { key, messageGroup: key, ...more })
      for (const key of keys) await send(`first ${key}`, key)
      const firsts = new Map(
        (await queues.receive('keyed', { limit: 10 })).map((message) => [message.messageGroup, message]),
      )
      for (const key of keys) await send(`second ${key}`, key, key === 'later' ? { delaySeconds: 3600 } : {})
      const change = (sql: string, key: string) => dataSource.query(`${sql} WHERE id = ${firsts.get(key)?.id}`)
      // As a process does it that has no column for keys. States 0 and 3: ready, dead.
      for (const key of ['deleted', 'later']) await change('DELETE FROM recentn_queue_messages', key)
      await change('UPDATE recentn_queue_messages SET state = 3', 'dead')
      const lettersId = "(SELECT id FROM recentn_queues WHERE queue = 'letters')"
      await change(`UPDATE recentn_queue_messages SET state = 0, queue_id = ${lettersId}`, 'moved')
      await change('UPDATE recentn_queue_messages SET state = 0', 'again')
      const bodies = async (state: MessageState) =>
        (await queues.peek('keyed', { state, limit: 20 })).messages.map(({ body }) => body).sort()
      expect(await bodies('blocked')).toHaveLength(6)
      await openedOf(store).queues.sweep()
      expect(await bodies('ready')).toEqual(['first again', 'second dead', 'second deleted', 'second moved'])
      expect(await bodies('delayed')).toEqual(['second later'])
      expect(await bodies('blocked')).toEqual(['second again', 'second held'])
      // They are as if the first had been acknowledged by a new process.
      expect(await send('third deleted', 'deleted', { onKey: 'replace' })).toMatchObject({ sent: false })
      await queues.ack('keyed', firsts.get('held') as Message)
      expect(await bodies('ready')).toContain('second held')
    })

    test('that newer code migrates while a store is open: the store continues, and a new one is refused', async () => {
      const store = await open()
      await exercise(store)
      await migrateBeyond(store)
      await exercise(store)
      await store.queues.put('q')
      await store.schedules.put('s', { queue: 'q', everySeconds: 60, body: 1 })
      expect((await store.schedules.list()).schedules).toHaveLength(1)
      expect((await refusal(openStore({ url: database.url }))).code).toBe('schema_too_new')
      await exercise(store)
    })
  })
})
