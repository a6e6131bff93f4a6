import type { NewItem, RecentnError } from '../../../src/index'
import { type Context, refusal } from '../context'

const BAD_NAMES = [
  '',
  'x'.repeat(192),
  '😀'.repeat(192),
  'a\u0000b',
  '\n',
  '\u007f',
  '\u0085',
  'a\ud800',
  '\udc00',
  '.',
  '..',
]

export function describeInput(context: Context): void {
  const groups = () => context.store.groups

  const where = (error: RecentnError) => error.faults.map((fault) => fault.pointer ?? fault.parameter ?? '')

  describe('input that is not valid', () => {
    it.each(BAD_NAMES.map((name) => [JSON.stringify(name).slice(0, 20), name]))('name %s', async (_, name) => {
      const calls = [
        groups().append(name),
        groups().append(context.unique(), { member: name }),
        groups().append(context.unique(), { eventId: name }),
        groups().appendMany([{ group: name }]),
        groups().recent(name),
        groups().recent('a', { exclude: [name] }),
        groups().recentMany(['a', name]),
        groups().clear(name),
        groups().remove(name, 0n),
        groups().get(name),
        groups().put(name),
        groups().drop(name),
        groups().memberItems(name),
        groups().eraseMember(name),
        context.store.policies.get(name),
        context.store.policies.put(name, { capacity: 1, mode: 'history' }),
        context.store.policies.drop(name),
      ]
      for (const error of await Promise.all(calls.map(refusal))) {
        expect([error.code, error.faults.length]).toEqual(['invalid_input', 1])
        expect(error.faults[0]?.detail).toBeTruthy()
      }
    })

    it('names every fault of an item', async () => {
      const group = context.unique()
      const item = {
        member: '',
        payload: [undefined],
        occurredAt: new Date(Number.NaN),
        eventId: 7,
      } as unknown as NewItem
      const error = await refusal(groups().append(group, item))
      expect(error.code).toBe('invalid_input')
      expect(where(error).sort()).toEqual(['/eventId', '/member', '/occurredAt', '/payload'])
      expect(await groups().get(group)).toBeNull()
    })

    it('names every fault of a batch, with its place', async () => {
      const group = context.unique()
      const error = await refusal(
        groups().appendMany([
          { group },
          { group: '', member: 'a\u0000' },
          { group, payload: 'x'.repeat(65_536) },
          { group, eventId: '..', occurredAt: new Date(-1) },
        ]),
      )
      expect(error.code).toBe('invalid_input')
      const places = where(error).map((pointer) => pointer.replace(/^\/items(?=\/)/, ''))
      expect(places.sort()).toEqual(['/1/group', '/1/member', '/2/payload', '/3/eventId', '/3/occurredAt'])
      expect(await groups().get(group)).toBeNull()
    })

    it('a batch of none and of more than 1,000', async () => {
      const group = context.unique()
      const many = Array.from({ length: 1001 }, () => ({ group }))
      for (const batch of [[], many]) {
        expect((await refusal(groups().appendMany(batch))).code).toBe('invalid_input')
      }
      expect(await groups().get(group)).toBeNull()
      expect(await groups().appendMany(many.slice(1))).toHaveLength(1000)
    })

    it.each([
      ['a function', () => 1],
      ['a symbol', Symbol('s')],
      ['a bigint', 1n],
      ['NaN', Number.NaN],
      ['Infinity inside', { a: [Number.POSITIVE_INFINITY] }],
      ['a lone surrogate', { a: '\ud800' }],
      ['a lone surrogate in a key', { '\udfff': 1 }],
    ])('payload: %s', async (_, payload) => {
      const group = context.unique()
      const error = await refusal(groups().append(group, { payload }))
      expect([error.code, where(error)]).toEqual(['invalid_input', ['/payload']])
      expect(await groups().get(group)).toBeNull()
    })

    it('a payload that is circular', async () => {
      const cycle: Record<string, unknown> = {}
      cycle.self = cycle
      for (const [payload, detail] of [
        [cycle, 'is circular'],
        [{ a: ['x', { cycle }] }, 'is circular, at /a/1/cycle'],
        [JSON.parse('['.repeat(65) + ']'.repeat(65)), 'is nested more than 64 levels deep'],
      ] as const) {
        const error = await refusal(groups().append(context.unique(), { payload }))
        expect([error.code, error.faults]).toEqual(['invalid_input', [{ pointer: '/payload', detail }]])
      }
    })

    it.each([
      [{ a: [1n] }, 'has a value of type bigint, for which JSON has no form, at /a/0'],
      [{ 'a/b': { tags: new Set(['x']) } }, 'has a Set, for which JSON has no form, at /a~1b/tags'],
      [new Map([['a', 1]]), 'has a Map, for which JSON has no form'],
      [{ a: Promise.resolve(1) }, 'has a Promise, for which JSON has no form, at /a'],
    ])('a payload whose fault has a place: %p', async (payload, detail) => {
      const group = context.unique()
      const faults = [{ pointer: '/payload', detail }]
      expect(await refusal(groups().append(group, { payload }))).toMatchObject({ faults })
      const many = await refusal(groups().appendMany([{ group }, { group, payload }]))
      expect(many).toMatchObject({ faults: [{ pointer: '/1/payload', detail }] })
    })

    it('nothing that JSON writes as {} because nothing is in it', async () => {
      const group = context.unique()
      const payload = [{}, Object.create(null), new (class Empty {})(), { at: new Date(0) }]
      const item = await groups().append(group, { payload })
      expect(item.payload).toEqual([{}, {}, {}, { at: '1970-01-01T00:00:00.000Z' }])
    })

    it('settings, all faults at once', async () => {
      const group = context.unique()
      const bad = { capacity: 0, mode: 'ring' as 'history', ttlSeconds: 0 }
      const faults = ['/capacity', '/mode', '/ttlSeconds']
      const errors = [await refusal(groups().put(group, bad)), await refusal(context.store.policies.put(group, bad))]
      for (const error of errors) expect([error.code, where(error).sort()]).toEqual(['invalid_input', faults])
      for (const capacity of [10_001, -1, 1.5, Number.NaN, '3' as unknown as number, null as unknown as number]) {
        expect((await refusal(groups().put(group, { capacity }))).code).toBe('invalid_input')
      }
      for (const ttlSeconds of [-1, 0.5, Number.POSITIVE_INFINITY, '1' as unknown as number]) {
        expect((await refusal(groups().put(group, { ttlSeconds }))).code).toBe('invalid_input')
      }
      const missing = {} as { capacity: number; mode: 'history' }
      expect(where(await refusal(context.store.policies.put(group, missing))).sort()).toEqual(['/capacity', '/mode'])
      expect(await groups().get(group)).toBeNull()
      expect(await context.store.policies.get(group)).toBeNull()
    })

    it('reading, all faults at once', async () => {
      const error = await refusal(groups().recent('.', { limit: 0, before: -1n, exclude: ['a', ''] }))
      expect(error.code).toBe('invalid_input')
      expect(error.faults).toHaveLength(4)
      for (const limit of [10_001, -1, 1.5, Number.NaN, '5' as unknown as number]) {
        expect((await refusal(groups().recent('a', { limit }))).code).toBe('invalid_input')
      }
      for (const before of [9_223_372_036_854_775_808n, 5 as unknown as bigint, '5' as unknown as bigint]) {
        expect((await refusal(groups().recent('a', { before }))).code).toBe('invalid_input')
        expect((await refusal(groups().remove('a', before))).code).toBe('invalid_input')
      }
      const tooMany = Array.from({ length: 101 }, (_, n) => `m${n}`)
      expect((await refusal(groups().recent('a', { exclude: tooMany }))).code).toBe('invalid_input')
      for (const names of [[], tooMany]) {
        expect((await refusal(groups().recentMany(names))).code).toBe('invalid_input')
      }
    })

    it('lists', async () => {
      for (const limit of [0, 1001, 2.5]) {
        const calls = [
          groups().list({ limit }),
          context.store.policies.list({ limit }),
          groups().memberItems('a', { limit }),
        ]
        for (const error of await Promise.all(calls.map(refusal))) expect(error.code).toBe('invalid_input')
      }
      expect((await refusal(groups().list({ prefix: 'a\u0000' }))).code).toBe('invalid_input')
      for (const before of ['nonsense', '', '😀', 'W10', '\u0000']) {
        expect((await refusal(groups().memberItems('a', { before }))).code).toBe('invalid_input')
      }
    })
  })
}
