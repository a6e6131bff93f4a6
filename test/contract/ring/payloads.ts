import fc from 'fast-check'
import { bounded } from '../../../src/fields/options'
import { type Item, JsonText, type RecentOptions } from '../../../src/index'
import { JSON_VALUES } from '../../support/json-values'
import { type Context, refusal } from '../context'
import { statementsOf } from '../statements'

export function describePayloads(context: Context): void {
  const groups = () => context.store.groups

  /** The texts of what comes back from each kind of read. */
  async function kept(payload: unknown): Promise<string[]> {
    const group = context.unique()
    const member = context.unique('m')
    const item = await groups().append(group, { payload, member })
    const read = (await groups().recent(group)).items[0]
    const byMember = (await groups().memberItems(member)).items[0]
    return [item, read, byMember].map((one) => JSON.stringify(one?.payload))
  }

  const expectKept = async (payload: unknown) => {
    const text = JSON.stringify(payload)
    expect(await kept(payload)).toEqual([text, text, text])
  }

  describe('payload', () => {
    it.each(JSON_VALUES)('keeps %s', async (_, payload) => {
      await expectKept(payload)
    })

    it('keeps any JSON value', async () => {
      const payloads = fc.array(fc.jsonValue({ maxDepth: 6 }), { minLength: 20, maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(payloads, async (values) => {
          const group = context.unique()
          await groups().put(group, { capacity: 20 })
          await groups().appendMany(values.map((payload) => ({ group, payload })))
          const items = (await groups().recent(group, { limit: 20 })).items.reverse()
          expect(items.map((item) => JSON.stringify(item.payload))).toEqual(
            values.map((value) => JSON.stringify(value)),
          )
        }),
        { numRuns: 15 },
      )
    })

    it('keeps the text of a JsonText to the letter, and gives it when asked', async () => {
      const group = context.unique()
      const member = context.unique('m')
      const text = '{"n":12345678901234567890.10,"z":1.0,"n":-0}'
      const item = await groups().append(group, { payload: new JsonText(text), member })
      await groups().append(group, { payload: { a: [1] }, member })
      await groups().append(group, { member })
      const readers = [
        (await groups().recent(group, { payloads: 'text' })).items,
        ((await groups().recentMany([group], { payloads: 'text' }))[0] ?? { items: [] }).items,
        (await groups().memberItems(member, { payloads: 'text' })).items,
      ]
      for (const items of readers) {
        expect(items.map((one) => (one.payload instanceof JsonText ? one.payload.text : one.payload))).toEqual([
          null,
          '{"a":[1]}',
          text,
        ])
      }
      expect(item.id).toBe(0n)
    })

    it('is neither read nor given with "none", and everything else is', async () => {
      const { store, statements } = await statementsOf(context)
      const [small, large] = [context.unique(), context.unique()]
      const member = context.unique('m')
      await store.groups.put(large, { capacity: 100, mode: 'distinct' })
      const items = [small, large].flatMap((group) =>
        [1, 2].map((n) => ({
          group,
          member: `${member}${n}`,
          payload: { secret: 'x'.repeat(60_000) },
          eventId: `e${n}`,
        })),
      )
      await store.groups.appendMany(items)
      const bare = bounded<RecentOptions>({ payloads: 'none' }, 1_000_000)
      const reads: [string, (options: RecentOptions) => Promise<readonly Item[]>][] = [
        ['recent', async (options) => (await store.groups.recent(small, options)).items],
        ['sorted', async (options) => (await store.groups.recent(large, { ...options, limit: 70 })).items],
        ['careful', async (options) => (await store.groups.recent(small, { ...options, limit: 9000 })).items],
        [
          'many',
          async (options) => (await store.groups.recentMany([large, small], options)).flatMap((one) => one.items),
        ],
        [
          'member',
          async (options) => (await store.groups.memberItems(`${member}1`, { ...(options as object), limit: 9 })).items,
        ],
      ]
      for (const [name, read] of reads) {
        const whole = await read({})
        statements.length = 0
        expect([name, await read(bare)]).toEqual([name, whole.map((item) => ({ ...item, payload: null }))])
        expect([name, whole.length > 0, statements.length > 0]).toEqual([name, true, true])
        expect([name, statements.filter((sql) => sql.includes('payload)') || sql.includes('i.payload'))]).toEqual([
          name,
          [],
        ])
      }
      expect((await refusal(store.groups.recent(small, { payloads: 'some' as 'none' }))).faults).toEqual([
        { pointer: '/payloads', detail: 'must be one of value, text, none' },
      ])
    })

    it('is given to a caller that wants it where another caller of the same statement does not', async () => {
      const group = context.unique()
      await groups().append(group, { payload: 'p' })
      const reads = Array.from({ length: 30 }, (_, n) => groups().recent(group, { payloads: n % 2 ? 'none' : 'value' }))
      const given = (await Promise.all(reads)).map(({ items }) => items[0]?.payload)
      expect(given).toEqual(given.map((_, n) => (n % 2 ? null : 'p')))
    })

    it('may have 64 KiB as JSON, and not a byte more', async () => {
      const group = context.unique()
      const exact = 'x'.repeat(65_534)
      const inTwoBytes = 'é'.repeat(32_767)
      await groups().appendMany([
        { group, payload: exact },
        { group, payload: inTwoBytes },
      ])
      expect((await groups().recent(group)).items.map((item) => item.payload)).toEqual([inTwoBytes, exact])
      for (const payload of [`${exact}x`, `${inTwoBytes}x`, [exact], '\n'.repeat(32_768)]) {
        const error = await refusal(groups().append(group, { payload }))
        expect([error.code, error.faults.length]).toEqual(['invalid_input', 1])
        expect(error.faults[0]?.pointer).toMatch(/\/payload$/)
      }
      expect((await groups().recent(group)).totalAppended).toBe(2n)
    })

    it('takes a batch of 1,000 items of some KiB', async () => {
      const group = context.unique()
      const payload = 'é'.repeat(2000)
      await groups().appendMany(Array.from({ length: 1000 }, () => ({ group, payload })))
      const recent = await groups().recent(group)
      expect(recent.totalAppended).toBe(1000n)
      expect(recent.items.every((item) => item.payload === payload)).toBe(true)
    })

    it('may be nested 64 levels deep, and no deeper', async () => {
      const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
      await expectKept(nested(64))
      expect((await refusal(groups().append(context.unique(), { payload: nested(65) }))).code).toBe('invalid_input')
      expect((await refusal(groups().append(context.unique(), { payload: nested(10_000) }))).code).toBe('invalid_input')
    })
  })
}
