/**
 * The contract is what every engine must do. Each of its rooms has one database of one engine, a store on it
 * with a clock that the test moves, and names that no other test of the room has used. Databases are expensive on the servers,
 * names are free.
 */
import { DataSource, type ObjectLiteral } from 'typeorm'
import { type OpenOptions, openStore, type Recent, RecentnError, type Store } from '../../src/index'
import { type StoreSchema, schemaOf } from '../../src/typeorm'
import { type EngineName, freshDatabase } from '../support/engines'

export interface Context {
  readonly engine: EngineName
  /** The database that the whole file shares. */
  readonly url: string
  /** The store that the whole file shares: no sweeper, no publisher, no schedules, `clock` moves its time. */
  readonly store: Store
  /** Milliseconds added to the database's time by every store of the context; tests only ever add to it. */
  readonly clock: { offsetMs: number }
  /** Another store on the same database (or on `url`), as the shared one is, closed after the test. */
  open(options?: Partial<OpenOptions>): Promise<Store>
  /** The URL of a new, empty database, dropped after the test. */
  emptyDatabase(): Promise<string>
  /** A name that no other test in this file has, beginning with `base`. */
  unique(base?: string): string
  /** Runs after the test, last one first, before its stores are closed. */
  afterwards(work: () => Promise<unknown>): void
}

/** Registers the hooks that open and close the context; call it first in a `describe`. */
export function useContext(engine: EngineName): Context {
  const clock = { offsetMs: 0 }
  const undo: (() => Promise<unknown>)[] = []
  const state: { url?: string; store?: Store; drop?: () => Promise<void> } = {}
  let count = 0

  beforeAll(async () => {
    const database = await freshDatabase(engine)
    state.url = database.url
    state.drop = () => database.drop()
    state.store = await openStore({
      url: database.url,
      sweep: false,
      publish: false,
      tick: false,
      clockOffsetMs: () => clock.offsetMs,
    })
  })

  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  afterAll(async () => {
    await state.store?.close()
    await state.drop?.()
  })

  const present = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the context is there in tests and hooks only')
    return value
  }
  return {
    engine,
    clock,
    get url() {
      return present(state.url)
    },
    get store() {
      return present(state.store)
    },
    async open(options = {}) {
      const store = await openStore({
        url: present(state.url),
        sweep: false,
        publish: false,
        tick: false,
        clockOffsetMs: () => clock.offsetMs,
        ...options,
      })
      undo.push(() => store.close())
      return store
    },
    async emptyDatabase() {
      const database = await freshDatabase(engine)
      undo.push(() => database.drop())
      return database.url
    },
    unique: (base = 'g') => `${base}-${(++count).toString(36)}:`,
    afterwards: (work) => {
      undo.push(work)
    },
  }
}

/** A DataSource as a user's own application has it: none of the settings that we like, and its own entities. */
export function userSource(
  url: string,
  own: (new () => ObjectLiteral)[] = [],
  schema: StoreSchema = schemaOf(),
): DataSource {
  const common = { entities: [...own, ...schema.entities], migrations: schema.migrations, logger: 'debug' as const }
  if (url.startsWith('sqlite:')) {
    return new DataSource({ ...common, type: 'better-sqlite3', database: url.slice('sqlite:'.length) })
  }
  return new DataSource({ ...common, type: 'mysql', url: url.replace(/^mariadb:/, 'mysql:') })
}

export { eventually, pause as sleep } from '../support/timing'

export const idsOf = (answer: { items: readonly { id: bigint }[] }): bigint[] => answer.items.map((item) => item.id)

export const membersOf = (answer: { items: readonly { member: string | null }[] }): (string | null)[] =>
  answer.items.map((item) => item.member)

/** `count` bigints from `from` downwards. */
export const down = (from: bigint | number, count: number): bigint[] =>
  Array.from({ length: count }, (_, index) => BigInt(from) - BigInt(index))

/** The error of a call that must be refused with a `RecentnError`. */
export async function refusal(call: Promise<unknown>): Promise<RecentnError> {
  const outcome = await call.then(
    () => 'it was not refused',
    (error: unknown) => error,
  )
  if (outcome instanceof RecentnError) return outcome
  throw outcome instanceof Error ? outcome : new Error(String(outcome))
}

/** The rules for the answer of a group that was written after its settings last changed. */
export function expectSound(recent: Recent): void {
  const ids = idsOf(recent)
  expect(ids).toEqual([...ids].sort((a, b) => (a < b ? 1 : -1)))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.length).toBeLessThanOrEqual(recent.capacity)
  expect(new Set(recent.items.map((item) => item.slot)).size).toBe(ids.length)
  for (const item of recent.items) {
    expect(item.group).toBe(recent.group)
    if (recent.mode === 'history') expect(item.slot).toBe(Number(item.id % BigInt(recent.capacity)))
    expect(item.slot).toBeGreaterThanOrEqual(0)
    expect(item.slot).toBeLessThan(recent.capacity)
  }
  if (recent.mode === 'distinct') {
    expect(membersOf(recent)).not.toContain(null)
    expect(new Set(membersOf(recent)).size).toBe(ids.length)
  }
}

export interface StoredItem {
  group_key: string
  slot: number | string
  id: number | string | bigint
  member: string | null
  event_id: string | null
}

/** The rows of a group as they are in the table, expired and superseded ones included. */
export async function rowsOf(store: Store, group: string): Promise<StoredItem[]> {
  const rows: (StoredItem & { group_key: string | Buffer })[] = await store.dataSource.query(
    'SELECT group_key, slot, id, member, event_id FROM recentn_items WHERE group_key = ? ORDER BY id',
    [group],
  )
  return rows
}
