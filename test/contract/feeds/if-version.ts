import type { Store } from '../../../src/index'
import { type Context, refusal } from '../context'
import { range } from '../queues/tools'
import { transactionTools } from '../store/transaction-tools'
import { feedTools, whileOpen } from './tools'

const WRITERS = 8
const TURNS = 12

/** Writes that count only if no other write came first. */
export function describeFeedIfVersion(context: Context): void {
  const feeds = () => context.store.feeds
  const { named, filled, known, published } = feedTools(context)
  const { WAYS } = transactionTools(context, 'version_notes')
  const changed = async (call: Promise<unknown>) => {
    const { code, status, message, faults } = await refusal(call)
    expect([code, status]).toEqual(['version_changed', 412])
    return { message, faults }
  }
  const rowsOf = async (feed: string) => {
    const sql = `SELECT COUNT(*) AS n FROM recentn_feed_entries e JOIN recentn_feeds f ON f.id = e.feed_id WHERE f.feed = ?`
    return Number((await context.store.dataSource.query(sql, [feed]))[0].n)
  }

  describe('feeds: ifVersion', () => {
    it('a put and a delete are done if the entry has that version, and change nothing otherwise', async () => {
      const feed = await filled(['k'])
      const second = await feeds().put(feed, 'k', 2, { ifVersion: 1 })
      expect(second).toMatchObject({ version: 2, value: 2, syncId: null })
      for (const ifVersion of [0, 1, 3]) {
        const { message, faults } = await changed(feeds().put(feed, 'k', 9, { ifVersion }))
        expect([message, faults]).toEqual(['The entry "k" has version 2', []])
        expect((await changed(feeds().delete(feed, 'k', { ifVersion }))).message).toBe(message)
      }
      expect(await feeds().get(feed, 'k')).toEqual(second)
      expect(await feeds().delete(feed, 'k', { ifVersion: 2 })).toMatchObject({ version: 3, deleted: true })
      expect(await published(feed)).toBe(1)
      expect(await known(feed)).toEqual({})
    })

    it('0 is an entry that does not exist, or is deleted', async () => {
      const feed = named()
      expect(await feeds().put(feed, 'k', 1, { ifVersion: 0 })).toMatchObject({ version: 1, deleted: false })
      await changed(feeds().put(feed, 'k', 2, { ifVersion: 0 }))
      expect((await changed(feeds().put(feed, 'none', 2, { ifVersion: 1 }))).message).toBe(
        'The entry "none" does not exist',
      )
      expect(await feeds().delete(feed, 'none', { ifVersion: 1 })).toBeNull()
      await feeds().delete(feed, 'k')
      const gone = await changed(feeds().put(feed, 'k', 2, { ifVersion: 1 }))
      expect(gone.message).toBe('The entry "k" has version 2, and is deleted')
      expect(await feeds().delete(feed, 'k', { ifVersion: 2 })).toBeNull()
      expect(await feeds().put(feed, 'k', 2, { ifVersion: 0 })).toMatchObject({ version: 3, value: 2 })
      await feeds().delete(feed, 'k')
      expect(await feeds().put(feed, 'k', 3, { ifVersion: 4 })).toMatchObject({ version: 5 })
      expect([await known(feed), await rowsOf(feed)]).toEqual([{}, 1])
    })

    it('many at once are all or nothing, and every entry that has changed is named', async () => {
      const feed = await filled(['a', 'b', 'c'])
      const entry = (key: string, ifVersion?: number) => ({ key, value: 2, ifVersion })
      const { message, faults } = await changed(
        feeds().putMany(feed, [
          entry('new', 0),
          entry('a', 1),
          entry('c', 0),
          entry('free'),
          entry('no', 4),
          entry('b', 2),
        ]),
      )
      expect(message).toBe('The entry "c" has version 1 (and 2 more)')
      expect(faults).toEqual([
        { pointer: '/2/ifVersion', detail: 'has version 1' },
        { pointer: '/4/ifVersion', detail: 'does not exist' },
        { pointer: '/5/ifVersion', detail: 'has version 1' },
      ])
      expect([await known(feed), await rowsOf(feed)]).toEqual([{ a: 1, b: 1, c: 1 }, 3])
      const { entries } = await feeds().putMany(feed, [entry('new', 0), entry('a', 1), entry('free'), entry('b', 1)])
      expect(entries.map(({ version }) => version)).toEqual([1, 2, 1, 2])
      const large = range(1, 400).map((n) => entry(`n${n}`, 0))
      expect((await feeds().putMany(feed, large)).entries).toHaveLength(400)
      expect((await changed(feeds().putMany(feed, large))).faults).toHaveLength(101) // and how many more
      expect(await rowsOf(feed)).toBe(405)
    })

    it('what is no version, and a key that is given twice, are refused', async () => {
      const feed = named()
      for (const ifVersion of [-1, 0.5, '1', 2 ** 53, null]) {
        const options = { ifVersion } as object
        const calls = [feeds().put(feed, 'k', 1, options), feeds().delete(feed, 'k', options)]
        for (const call of calls) {
          expect(await refusal(call)).toMatchObject({ code: 'invalid_input', faults: [{ pointer: '/ifVersion' }] })
        }
      }
      const twice = [
        { key: 'k', value: 1 },
        { key: 'l', value: 1, ifVersion: 0 },
        { key: 'k', value: 2, ifVersion: 0 },
      ]
      expect((await refusal(feeds().putMany(feed, twice))).faults).toMatchObject([{ pointer: '/2/ifVersion' }])
      expect(await refusal(feeds().put(feed, 'k', 1, { ifTag: '1' } as object))).toMatchObject({
        code: 'invalid_input',
      })
      expect(await feeds().status(feed)).toBeNull()
    })

    it.each(WAYS)('a transaction continues after a refusal, which leaves nothing: %s', async (_, run) => {
      const feed = await filled(['k'])
      await run(async (tx) => {
        await changed(
          tx.feeds.putMany(feed, [
            { key: 'new', value: 1, ifVersion: 0 },
            { key: 'k', value: 2, ifVersion: 0 },
          ]),
        )
        expect(await tx.feeds.get(feed, 'new')).toBeNull()
        expect(await tx.feeds.put(feed, 'k', 3, { ifVersion: 1 })).toMatchObject({ version: 2 })
        expect(await tx.feeds.delete(feed, 'k', { ifVersion: 2 })).toMatchObject({ version: 3 })
      })
      expect([await published(feed), await known(feed), await rowsOf(feed)]).toEqual([1, {}, 1])
    })

    it('waits for a transaction that writes the entry, and is refused when that has committed', async () => {
      const feed = await filled(['k'])
      for (const [key, ifVersion] of [
        ['k', 1],
        ['new', 0],
      ] as const) {
        let late: Promise<unknown> = Promise.resolve()
        await whileOpen(
          context,
          (tx) => tx.feeds.put(feed, key, 'first', { ifVersion }),
          async () => {
            late = changed(feeds().put(feed, key, 'second', { ifVersion }))
          },
        )
        await late
        expect((await feeds().get(feed, key))?.value).toBe('first')
      }
    })

    it(`${WRITERS} writers add to a number, and none of what they add is lost`, async () => {
      const feed = named()
      const stores: Store[] = [context.store, await context.open(), await context.open()]
      const refused = { times: 0 }
      const addOne = async ({ feeds: own }: Store): Promise<void> => {
        for (;;) {
          const was = await own.get<number>(feed, 'number')
          try {
            await own.put(feed, 'number', (was?.value ?? 0) + 1, { ifVersion: was?.version ?? 0 })
            return
          } catch (error) {
            if ((error as { code?: string }).code !== 'version_changed') throw error
            refused.times++
          }
        }
      }
      await Promise.all(
        range(1, WRITERS).map(async (writer) => {
          for (const turn of range(1, TURNS)) {
            await addOne(stores[writer % stores.length] as Store)
            // Others that ask for no version come between, in the same feed and the same batches.
            await feeds().put(feed, `of-${writer}`, turn)
          }
        }),
      )
      expect(await feeds().get(feed, 'number')).toMatchObject({ value: WRITERS * TURNS, version: WRITERS * TURNS })
      expect(refused.times).toBeGreaterThan(0)
    })

    it('of many that make an entry, one does', async () => {
      const feed = await filled(['other'])
      const stores: Store[] = [context.store, await context.open()]
      for (const round of range(1, 5)) {
        const key = `new-${round}`
        const made = await Promise.allSettled(
          range(1, WRITERS).map((n) => (stores[n % 2] as Store).feeds.put(feed, key, n, { ifVersion: 0 })),
        )
        const done = made.filter(({ status }) => status === 'fulfilled')
        expect(done).toMatchObject([{ value: { version: 1 } }])
        const reasons = made.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
        expect(reasons).toEqual(Array(WRITERS - 1).fill('version_changed'))
      }
    })
  })
}
