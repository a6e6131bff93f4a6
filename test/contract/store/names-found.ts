import type { Context } from '../context'

export function describeNamesFound(context: Context): void {
  describe('a list with contains', () => {
    test.each(['groups', 'policies', 'queues', 'schedules', 'feeds'] as const)(
      'of %s finds names by any part, in either case, in pages and within a prefix',
      async (kind) => {
        const { store } = context
        const base = context.unique('find')
        const queue = context.unique('target')
        await store.queues.put(queue)
        const put = {
          groups: (name: string) => store.groups.put(name),
          policies: (name: string) => store.policies.put(name, { capacity: 3, mode: 'history' }),
          queues: (name: string) => store.queues.put(name),
          schedules: (name: string) => store.schedules.put(name, { queue, everySeconds: 3600, body: 1 }),
          feeds: (name: string) => store.feeds.put(name, 'key', 1),
        }[kind]
        const names = ['Article:4711', 'article:x', 'tag-4711', '100%_off', 'Ärger'].map((name) => `${base}:${name}`)
        for (const name of names) await put(name)
        context.afterwards(async () => {
          if (kind === 'policies') for (const name of names) await store.policies.drop(name)
        })
        const found = async (contains: string, limit = 10) => {
          const list: string[] = []
          let after: string | undefined
          do {
            const page = (await store[kind].list({ prefix: `${base}:`, contains, limit, after })) as unknown as {
              nextAfter: string | null
            } & Record<string, Record<string, string>[]>
            const field = kind === 'policies' ? 'prefix' : kind.slice(0, -1)
            for (const row of page[kind] ?? []) list.push((row[field] ?? '').slice(base.length + 1))
            after = page.nextAfter ?? undefined
          } while (after !== undefined)
          return list.sort()
        }
        expect(await found('4711')).toEqual(['Article:4711', 'tag-4711'])
        expect(await found('4711', 1)).toEqual(['Article:4711', 'tag-4711'])
        expect(await found('ARTICLE:')).toEqual(['Article:4711', 'article:x'])
        // Signs that mean something in a pattern are looked for as they are.
        expect(await found('%_')).toEqual(['100%_off'])
        expect(await found('_')).toEqual(['100%_off'])
        expect(await found('.')).toEqual([])
        expect(await found('ger')).toEqual(['Ärger'])
        expect(await found('nothing')).toEqual([])
        await expect(store[kind].list({ contains: 'a\u0000b' })).rejects.toMatchObject({ code: 'invalid_input' })
      },
    )
  })
}
