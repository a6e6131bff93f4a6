import * as v from 'valibot'
import { z } from 'zod'
import type { StandardSchema } from '../../../src/index'
import { type Context, eventually } from '../context'
import { feedTools } from './tools'

const later = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(resolve, value))

const SCHEMAS: [string, StandardSchema<{ born: Date }>][] = [
  ['zod', z.object({ born: z.coerce.date() })],
  [
    'valibot',
    v.object({
      born: v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
        v.date(),
      ),
    }),
  ],
  ['zod, asynchronous', z.object({ born: z.coerce.date().refine(() => later(true)) })],
]

export function describeFeedSchemas(context: Context): void {
  const { named, published } = feedTools(context)
  const feeds = () => context.store.feeds

  describe('feeds: the schema of a consumer', () => {
    it.each(SCHEMAS)('%s: the handler gets the output of each value, and deletions as they are', async (_, schema) => {
      const feed = named()
      await feeds().put(feed, 'ann', { born: '1970-01-01' })
      await feeds().put(feed, 'bob', { born: '1980-01-01' })
      await feeds().delete(feed, 'bob')
      await published(feed)
      const given: unknown[] = []
      const loop = feeds().consume(
        feed,
        'c',
        (changes) => {
          for (const { key, value, deleted } of changes)
            given.push([key, deleted ? value : value.born.getUTCFullYear()])
        },
        { schema },
      )
      await eventually(10_000, 'all is given', () => given.length === 2)
      await loop.stop()
      expect(given.sort()).toEqual([
        ['ann', 1970],
        ['bob', null],
      ])
    })

    it('a value that does not fit stops the consumer before its page until it is put right: nothing is skipped', async () => {
      const feed = named()
      for (const [key, born] of [
        ['ann', '1970-01-01'],
        ['bob', 'long ago'],
        ['cid', '1990-01-01'],
      ] as const) {
        await feeds().put(feed, key, { born })
        await published(feed)
      }
      const given: string[] = []
      const reported: unknown[] = []
      const loop = feeds().consume(feed, 'c', (changes) => given.push(...changes.map(({ key }) => key)), {
        limit: 1,
        schema: z.object({ born: z.coerce.date() }),
        backoff: { minSeconds: 0, maxSeconds: 1 },
        onError: (error, changes) => reported.push([String(error), changes?.map(({ key, value }) => [key, value])]),
      })
      context.afterwards(() => loop.stop())
      await eventually(10_000, 'it is tried again', () => reported.length >= 3)
      expect(given).toEqual(['ann'])
      expect(reported[0]).toEqual([
        expect.stringContaining('The value of "bob" does not fit the schema: born: '),
        [['bob', { born: 'long ago' }]],
      ])
      expect((await feeds().cursor(feed, 'c')).cursor).toBe(1n)
      await feeds().put(feed, 'bob', { born: '1980-01-01' })
      await published(feed)
      await eventually(10_000, 'all is given', () => given.length === 3)
      expect(given).toEqual(['ann', 'cid', 'bob'])
    })

    it('a schema does not go with texts', () => {
      const options = { schema: z.unknown(), values: 'text' as const }
      expect(() => feeds().consume(named(), 'c', () => {}, options)).toThrow('schema: needs values, not texts')
    })
  })
}
