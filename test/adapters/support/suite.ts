/**
 * `store.within` in a transaction of each library, with its real package on real servers: what its drivers do to statements
 * and values must not reach the store.
 */

import { openStore, RecentnError, type Store, type Transaction } from 'recentn'
import type { QueryTransaction } from 'recentn/adapters'
import { describeEngine, type EngineName, freshDatabase } from '../../support/engines'
import { everyCall } from './every-call'
import { type Isolation, LIBRARIES, type Library } from './libraries'

type Joined = Omit<Transaction, 'manager'>

const BEYOND = 9_007_199_254_740_993n
const TEXTS = [
  '?',
  ':x :note',
  '$1 $2',
  '%s %',
  "a'b''c\"`",
  'back\\slash\\',
  '😀 語',
  '?? {x} #{y} @z',
  ' RETURNING ',
  '-- ;',
]
const boom = new Error('boom')

async function refused(call: Promise<unknown>): Promise<RecentnError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (error instanceof RecentnError) return error
  throw error ?? new Error('it was not refused')
}

export function describeLibraries(engine: EngineName): void {
  describeEngine(engine, 'transactions of libraries', () => {
    for (const { name, engines, open } of LIBRARIES) {
      if (engines.includes(engine)) describe(name, () => describeLibrary(engine, open))
    }
  })
}

function describeLibrary(engine: EngineName, open: (typeof LIBRARIES)[number]['open']): void {
  let store: Store
  let library: Library
  let drop: () => Promise<void>
  let count = 0
  const unique = () => `${engine}-${++count}`
  const query = (sql: string, values?: unknown[]) => store.dataSource.query(sql, values)
  const within = <T>(
    work: (tx: Joined, note: (text: string) => Promise<unknown>, given: QueryTransaction) => Promise<T>,
    isolation?: Isolation,
  ) => library.transaction((given, note) => work(store.within(given), note, given), isolation)

  beforeAll(async () => {
    const database = await freshDatabase(engine)
    drop = () => database.drop()
    store = await openStore({ url: database.url, sweep: false, publish: false, tick: false })
    await query('CREATE TABLE library_notes (note varchar(100) NOT NULL PRIMARY KEY)')
    library = await open(database.url, engine)
  })

  afterAll(async () => {
    await library?.close()
    await store?.close()
    await drop?.()
  })

  it('every call of a transaction, committed with a row of the library', async () => {
    const base = unique()
    await within(async (tx, note) => {
      await note(base)
      await everyCall(tx, base)
    })
    expect(await query('SELECT note FROM library_notes WHERE note = ?', [base])).toHaveLength(1)
    expect((await store.groups.recent(`${base}-group`)).items.map(({ payload }) => payload)).toEqual([2, 1])
    expect((await store.queues.receive(`${base}-queue`, { limit: 10 })).map(({ body }) => body)).toEqual([2])
    expect(await store.feeds.get(`${base}-feed`, 'a')).toMatchObject({ value: 1 })
  })

  it('nothing of it, where the library rolls back', async () => {
    const base = unique()
    const failed = within(async (tx, note) => {
      await note(base)
      await everyCall(tx, base)
      throw boom
    })
    await expect(failed).rejects.toThrow('boom')
    expect(await query('SELECT note FROM library_notes WHERE note = ?', [base])).toEqual([])
    expect([await store.groups.get(`${base}-group`), await store.queues.get(`${base}-queue`)]).toEqual([null, null])
  })

  it('texts come back as they were, whatever a library would see in them', async () => {
    const group = unique()
    const read = await within(async (tx) => {
      await tx.groups.put(group, { capacity: 20 })
      for (const text of TEXTS) await tx.groups.append(group, { member: text, payload: { text }, eventId: text })
      return tx.groups.recent(group, { limit: 20 })
    })
    const texts = [...TEXTS].reverse()
    for (const { items } of [read, await store.groups.recent(group, { limit: 20 })]) {
      expect(items.map(({ member, payload, eventId }) => [member, payload, eventId])).toEqual(
        texts.map((text) => [text, { text }, text]),
      )
    }
  })

  it('ids beyond 2^53 are exact, and times are times', async () => {
    const base = unique()
    await store.groups.append(base)
    await query('UPDATE recentn_groups SET last_id = ? WHERE group_key = ?', [String(BEYOND - 1n), base])
    await store.queues.put(base)
    await query(
      engine === 'sqlite'
        ? `UPDATE sqlite_sequence SET seq = ${BEYOND - 1n} WHERE name = 'recentn_queue_messages'`
        : `ALTER TABLE recentn_queue_messages AUTO_INCREMENT = ${BEYOND}`,
    )
    const ids = await within(async (tx) => {
      const item = await tx.groups.append(base)
      expect(Math.abs(item.createdAt.getTime() - Date.now())).toBeLessThan(60_000)
      const sent = await tx.queues.sendMany(base, [{ body: 1 }, { body: 2, delaySeconds: 60 }])
      return [item.id, ...sent.map(({ id }) => id)]
    })
    expect(ids).toEqual([BEYOND, BEYOND, BEYOND + 1n])
    const [first, second] = [
      await store.queues.message(base, ids[1] as bigint),
      await store.queues.message(base, ids[2] as bigint),
    ]
    expect([first?.body, second?.body, second?.state]).toEqual([1, 2, 'delayed'])
  })

  it('an operation whose error is caught stores nothing, and the transaction continues', async () => {
    const group = unique()
    await within(async (tx) => {
      await tx.groups.append(group, { payload: 1 })
      expect((await refused(tx.queues.send(`${group}-none`, 1))).code).toBe('queue_not_found')
      const many = await Promise.all([2, 3, 4].map((payload) => tx.groups.append(group, { payload })))
      expect(many.map(({ id }) => id)).toEqual([1n, 2n, 3n])
    })
    expect((await store.groups.recent(group)).totalAppended).toBe(4n)
  })

  it('without a transaction, and after its end, nothing is written', async () => {
    const group = unique()
    await expect(store.within(library.outside).groups.append(group)).rejects.toMatchObject({
      code: expect.stringMatching(/^(invalid_input|closed)$/),
    })
    const kept = await within(async (tx) => tx)
    await expect(kept.groups.append(group)).rejects.toThrow()
    expect(await store.groups.get(group)).toBeNull()
  })

  if (engine === 'sqlite') return

  it.each(['read committed', 'serializable'] as const)('works at %s', async (isolation) => {
    const base = unique()
    await within((tx) => everyCall(tx, base), isolation)
    expect((await store.groups.recent(`${base}-group`)).totalAppended).toBe(3n)
  })

  it('the first sends to a queue at the same time do not deadlock', async () => {
    const queue = unique()
    await store.queues.put(queue)
    await Promise.all(Array.from({ length: 4 }, (_, body) => within((tx) => tx.queues.send(queue, body))))
    const received = await store.queues.receive(queue, { limit: 10 })
    expect(received.map(({ body }) => body).sort()).toEqual([0, 1, 2, 3])
  })

  it('a character set that loses texts is refused by name, whenever it is set', async () => {
    const group = unique()
    await within(async (tx, _note, given) => {
      await tx.groups.append(group)
      await given.query('SET NAMES latin1', [])
      const error = await refused(tx.groups.append(group))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringContaining('latin1')])
      await given.query('SET NAMES utf8mb4', [])
      await tx.groups.append(group)
    })
    expect((await store.groups.recent(group)).totalAppended).toBe(2n)
  })

  it('after a deadlock in the middle nothing is there, and what is called in it is refused', async () => {
    const [a, b] = [unique(), unique()]
    await store.groups.appendMany([{ group: a }, { group: b }])
    let waiting = 0
    let meet: () => void = () => {}
    const both = new Promise<void>((resolve) => {
      meet = resolve
    })
    const crossing = (first: string, second: string) =>
      within(async (tx) => {
        await tx.groups.append(first)
        if (++waiting === 2) meet()
        await both
        try {
          await tx.groups.append(second)
        } catch (error) {
          expect(error).toMatchObject({ code: 'conflict' })
          await expect(tx.groups.append(first)).rejects.toBeDefined()
          throw error
        }
      })
    const outcomes = await Promise.allSettled([crossing(a, b), crossing(b, a)])
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect((await store.groups.recentMany([a, b])).map(({ totalAppended }) => totalAppended)).toEqual([2n, 2n])
  })
}
