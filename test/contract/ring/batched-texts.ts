import fc from 'fast-check'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { nameFault } from '../../../src/fields/rules'
import { attachStore, JsonText, type Store } from '../../../src/index'
import { type Context, userSource } from '../context'
import { statementsOf } from '../statements'
import { times } from './batched'

/** As many code points as a name may have. */
const longest = (start: string): string =>
  Array.from(`${start}${"\\🦀'".repeat(191)}`)
    .slice(0, 191)
    .join('')

const BACKSLASHES = [
  '\\',
  '\\\\',
  "\\'",
  '\\"',
  "a\\'; DROP TABLE recentn_items; -- ",
  '\\0',
  '\\x00',
  '%\\_',
  'C:\\new\\table',
]
const QUOTES = ["'", "''", "'''", '"', '`', "'; DROP TABLE recentn_items; -- ", "') ON DUPLICATE KEY UPDATE slot=0 -- "]
const OTHERS = [
  '?',
  '??',
  ':name',
  '$1',
  '/*',
  '*/',
  '--',
  '#',
  '{}',
  'é',
  'e\u0301',
  '🦀',
  '👩‍👩‍👧',
  '\u{10ffff}',
  '表',
  ' a ',
  '\u2028',
  '\ufeff',
]
const HARD = [...BACKSLASHES, ...QUOTES, ...OTHERS]

/** The texts of a batch are written into its statements: what is in them must never be more than text. */
export function describeBatchedTexts(context: Context): void {
  const part = fc.oneof(fc.constantFrom(...HARD), fc.string({ unit: 'grapheme', maxLength: 6 }))
  const text = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
  const name = text.filter((one) => nameFault(one) === null)
  const control = fc.constantFrom('\u0000', '\n', '\r', '\t', '\u001a', '\b', '\u007f')
  const payload = fc.oneof(
    text,
    fc.array(fc.oneof(text, control), { maxLength: 5 }).map((parts) => parts.join('')),
    fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null))),
    fc.jsonValue({ maxDepth: 3 }),
  )
  const item = fc.record({
    member: fc.option(name),
    eventId: fc.option(name),
    payload: fc.option(payload.map((value) => JSON.stringify(value))),
  })

  /** Appends all at once, and asks for each byte of them three ways. */
  async function expectKept(store: Store, group: string, items: readonly Shape[]): Promise<void> {
    await store.groups.put(group, { capacity: 100 })
    const fresh = items.filter(
      ({ eventId }, n) => eventId === null || items.findIndex((other) => other.eventId === eventId) === n,
    )
    const answers = await Promise.all(
      fresh.map(({ payload: json, ...rest }) =>
        store.groups.append(
          group,
          { ...rest, payload: json === null ? null : new JsonText(json) },
          { payloads: 'text' },
        ),
      ),
    )
    expect(answers.map(shapeOf)).toEqual(fresh)
    expect(answers.every(({ appended }) => appended)).toBe(true)
    const { items: read } = await store.groups.recent(group, { limit: 100, payloads: 'text' })
    expect(read.map(shapeOf).reverse()).toEqual(fresh)
    const rows: { member: string | null; event_id: string | null; payload: string | null }[] =
      await context.store.dataSource.query(
        'SELECT member, event_id, payload FROM recentn_items WHERE group_key = ? ORDER BY id',
        [group],
      )
    expect(rows.map((row) => ({ member: row.member, eventId: row.event_id, payload: row.payload }))).toEqual(fresh)
    const again = await Promise.all(
      fresh.filter(({ eventId }) => eventId !== null).map(({ eventId }) => store.groups.append(group, { eventId })),
    )
    expect(again.map(({ eventId, appended }) => [eventId, appended])).toEqual(
      fresh.filter(({ eventId }) => eventId !== null).map(({ eventId }) => [eventId, false]),
    )
  }

  const expectAllKept = (store: Store, runs: number) =>
    fc.assert(
      fc.asyncProperty(name, fc.array(item, { minLength: 1, maxLength: 30, size: 'max' }), async (base, items) => {
        const group = `${context.unique()}${base}`
        await expectKept(store, nameFault(group) === null ? group : context.unique(), items)
      }),
      { numRuns: runs },
    )

  describe('texts in a batch', () => {
    it('are kept byte for byte, and are never more than text', () => expectAllKept(context.store, 25))

    it('each that is known to be hard', async () => {
      const items = HARD.map((hard) => ({
        member: hard,
        eventId: `${hard}!`,
        payload: JSON.stringify({ [hard]: [hard] }),
      }))
      await expectKept(context.store, `${context.unique()}\\'"`, items)
      const groups = HARD.map((hard) => `${hard}${context.unique()}`)
      const appended = await Promise.all(groups.map((group) => context.store.groups.append(group, { payload: group })))
      expect(appended.map(({ id, payload: own }) => [id, own])).toEqual(groups.map((group) => [0n, group]))
      const pages = await context.store.groups.recentMany(groups)
      expect(pages.map(({ items: [only] }) => only?.payload)).toEqual(groups)
    })

    it('up to the longest names and payloads, more than fit into one statement', async () => {
      const group = context.unique()
      const names = times(40, (n) => longest(`${n}`))
      const items = names.map((member, n) => ({
        member,
        eventId: member,
        payload: JSON.stringify((n % 2 ? '\\' : "'🦀").repeat(n % 2 ? 32_000 : 12_000)),
      }))
      await expectKept(context.store, group, items)
    })

    it('the longest of all in a thousand groups, each statement below the smallest packet that a server may take', async () => {
      const { store, statements } = await statementsOf(context)
      const run = context.unique()
      const items = times(1000, (n) => {
        const name = longest(`${run}${n}\\`)
        return { group: name, member: name, eventId: name }
      })
      const first = await store.groups.appendMany(items)
      const again = await store.groups.appendMany(items)
      expect(first.map(({ id, appended }) => [id, appended])).toEqual(times(1000, () => [0n, true]))
      expect(again.map(({ id, appended }) => [id, appended])).toEqual(times(1000, () => [0n, false]))
      expect(Math.max(...statements.map((sql) => Buffer.byteLength(sql)))).toBeLessThan(1024 * 1024)
    })

    it('whatever the sessions of the user make of a backslash', async () => {
      if (context.engine === 'sqlite') return // it has no such setting, and gets texts as parameters
      for (const extra of [{}, { namedPlaceholders: true }]) {
        const source = new DataSource({ ...userSource(context.url).options, extra } as DataSourceOptions)
        await source.initialize()
        const { pool } = source.driver as unknown as {
          pool: { on(event: 'connection', listener: (connection: { query(sql: string): void }) => void): void }
        }
        pool.on('connection', (connection) => connection.query(SET_MODE))
        const runner = source.createQueryRunner()
        await runner.query(SET_MODE) // the connection that was there before the listener
        const [mode] = await runner.query('SELECT @@sql_mode AS mode')
        await runner.release()
        expect(mode.mode).toMatch(/NO_BACKSLASH_ESCAPES/)
        const store = await attachStore(source, { sweep: false })
        context.afterwards(async () => {
          await store.close()
          await source.destroy()
        })
        await expectAllKept(store, 10)
      }
    })
  })
}

const SET_MODE = "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,STRICT_TRANS_TABLES'"

interface Shape {
  member: string | null
  eventId: string | null
  /** JSON. */
  payload: string | null
}

function shapeOf(item: { member: string | null; eventId: string | null; payload: unknown }): Shape {
  const { member, eventId, payload } = item
  return { member, eventId, payload: payload === null ? null : (payload as JsonText).text }
}
