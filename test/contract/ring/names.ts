import { type Context, idsOf, membersOf } from '../context'

/** Names that some collation or padding rule takes for the same, and names at the edge of what is allowed. */
const TRICKY = [
  'a',
  'A',
  'a ',
  ' a',
  'a  ',
  'ä',
  'a\u0308', // the same letter, decomposed
  'ß',
  'ss',
  'ı',
  'i',
  'I',
  'İ',
  'ﬁ',
  'fi',
  'µ',
  'μ',
  'å',
  'Å', // the Angstrom sign
  '٣',
  '3',
  'ａ',
  '😀',
  '😁',
  '\ufeffa',
  'a\u200b',
  'a\u00ad',
  '\ud7ff',
  '\uffff',
  '\u{10ffff}',
  '..a',
  '%2F',
  '/',
  '\\',
  "'",
  '"',
  '`',
  '?',
  ';--',
  '0',
  '00',
  '__proto__',
  'constructor',
  'null',
]

export function describeNames(context: Context): void {
  const groups = () => context.store.groups

  describe('names are the same only when they are the same bytes', () => {
    it('of groups', async () => {
      const suffix = context.unique('n')
      // A trailing space must stay trailing, so the unique part goes in front for those.
      const names = TRICKY.flatMap((name) => [suffix + name, name])
      await groups().appendMany(names.map((group, n) => ({ group, payload: n })))
      for (let from = 0; from < names.length; from += 50) {
        const part = names.slice(from, from + 50)
        const answers = await groups().recentMany(part)
        expect(answers.map((answer) => [answer.group, answer.items[0]?.payload, answer.totalAppended])).toEqual(
          part.map((name, n) => [name, from + n, 1n]),
        )
      }
      for (const [n, name] of names.entries()) {
        if (n % 5) continue
        expect((await groups().recent(name)).items.map((item) => item.payload)).toEqual([n])
        expect((await groups().get(name))?.group).toBe(name)
      }
      const listed = (await groups().list({ prefix: suffix })).groups.map((group) => group.group)
      expect(new Set(listed)).toEqual(new Set(names.filter((name) => name.startsWith(suffix))))
      for (const name of TRICKY) expect(await groups().drop(name)).toBe(true)
      expect((await groups().list({ prefix: suffix })).groups).toHaveLength(TRICKY.length)
    })

    it('of members', async () => {
      const group = context.unique()
      await groups().put(group, { mode: 'distinct', capacity: 100 })
      await groups().appendMany(TRICKY.map((member) => ({ group, member })))
      const recent = await groups().recent(group, { limit: 100 })
      expect(membersOf(recent).reverse()).toEqual(TRICKY)
      const without = await groups().recent(group, { limit: 100, exclude: ['a', 'ä', 'ss'] })
      expect(membersOf(without).reverse()).toEqual(TRICKY.filter((name) => !['a', 'ä', 'ss'].includes(name)))
      const mine = await groups().memberItems('Å')
      expect(new Set(mine.items.map((item) => item.member))).toEqual(new Set(['Å']))
      await groups().eraseMember('A')
      await groups().eraseMember('a ')
      const left = membersOf(await groups().recent(group, { limit: 100 })).reverse()
      expect(left).toEqual(TRICKY.filter((name) => name !== 'A' && name !== 'a '))
    })

    it('of eventIds', async () => {
      const group = context.unique()
      await groups().put(group, { capacity: 100 })
      for (const eventId of TRICKY) expect(await groups().append(group, { eventId })).toMatchObject({ appended: true })
      for (const [n, eventId] of TRICKY.entries()) {
        expect(await groups().append(group, { eventId })).toMatchObject({ id: BigInt(n), appended: false, eventId })
      }
      const many = await groups().appendMany(TRICKY.map((eventId) => ({ group, eventId })))
      expect(many.map((item) => [item.id, item.appended])).toEqual(TRICKY.map((_, n) => [BigInt(n), false]))
    })

    it('of policies', async () => {
      const base = context.unique('n')
      for (const [n, name] of TRICKY.entries()) {
        context.afterwards(() => context.store.policies.drop(base + name))
        await context.store.policies.put(base + name, { capacity: n + 1, mode: 'history' })
      }
      for (const [n, name] of TRICKY.entries()) {
        expect(await context.store.policies.get(base + name)).toMatchObject({ prefix: base + name, capacity: n + 1 })
      }
      const made = await groups().appendMany(TRICKY.map((name) => ({ group: `${base}${name}` })))
      const answers = await groups().recentMany(made.map((item) => item.group))
      expect(answers.map((answer) => answer.capacity)).toEqual(TRICKY.map((_, n) => n + 1))
    })

    it('up to 191 code points of four bytes', async () => {
      const long = '😀'.repeat(191)
      const almost = `${'😀'.repeat(190)}😁`
      const items = await groups().appendMany([
        { group: long, member: long, eventId: long },
        { group: almost, member: almost, eventId: almost },
      ])
      expect(items.map((item) => item.id)).toEqual([0n, 0n])
      expect((await groups().recent(long)).items[0]).toMatchObject({ group: long, member: long, eventId: long })
      expect(idsOf(await groups().memberItems(almost))).toEqual([0n])
      expect(await groups().append(long, { eventId: long })).toMatchObject({ id: 0n, appended: false })
      await context.store.policies.put(long, { capacity: 2, mode: 'history' })
      expect((await context.store.policies.get(long))?.prefix).toBe(long)
      expect((await groups().list({ prefix: '😀'.repeat(190) })).groups.map((group) => group.group)).toEqual([
        long,
        almost,
      ])
      expect((await context.store.policies.list({ after: '😀' })).policies.map((policy) => policy.prefix)).toContain(
        long,
      )
      await context.store.policies.drop(long)
    })
  })
}
