/**
 * Consumers against what there is: whatever is written, published, swept away and begun again, each that keeps to the
 * rules (continues from the cursor it was given, starts over with nothing when it has expired) ends with every last value.
 */
import fc from 'fast-check'
import { RecentnError, type Store } from '../../../src/index'
import type { Changes } from '../../../src/shared/feed-types'
import type { Context } from '../context'
import { expectGrowing, feedTools, sweptFeeds, syncIdsOf, useForgetting } from './tools'

const KEPT_SECONDS = 100

/** How a consumer keeps its cursor. */
interface Keeping {
  read(limit: number): Promise<Changes>
  keep(cursor: bigint): Promise<unknown>
  startOver(): Promise<unknown>
}

/** A consumer, and what it has learnt. */
class Learner {
  readonly known = new Map<string, unknown>()
  #last = 0n
  startedOver = 0

  constructor(readonly keeping: Keeping) {}

  /** Reads a page; false when there is no more. */
  async step(limit: number): Promise<boolean> {
    try {
      const { changes, cursor, hasMore } = await this.keeping.read(limit)
      expectGrowing(syncIdsOf(changes), this.#last)
      this.#last = changes.at(-1)?.syncId ?? this.#last
      for (const { key, value, deleted } of changes) {
        if (deleted) this.known.delete(key)
        else this.known.set(key, value)
      }
      await this.keeping.keep(cursor)
      return hasMore
    } catch (error) {
      if (!(error instanceof RecentnError) || error.code !== 'cursor_expired') throw error
      this.startedOver++
      this.known.clear()
      this.#last = 0n
      await this.keeping.startOver()
      return true
    }
  }
}

function plain(store: Store, feed: string): Keeping {
  let after = 0n
  return {
    read: (limit) => store.feeds.changes(feed, { after, limit }),
    keep: async (cursor) => {
      after = cursor
    },
    startOver: async () => {
      after = 0n
    },
  }
}

function stored(store: Store, feed: string, consumer: string): Keeping {
  return {
    read: (limit) => store.feeds.changes(feed, { consumer, limit }),
    keep: (cursor) => store.feeds.moveCursor(feed, consumer, cursor),
    startOver: () => store.feeds.moveCursor(feed, consumer, 0n, { force: true }),
  }
}

const operations = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...['put', 'put', 'put', 'delete', 'delete', 'publish', 'publish', 'age', 'republish', 'rollback'],
      ...['read', 'read', 'read', 'read'],
    ),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    who: fc.nat({ max: 2 }),
    limit: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 40, maxLength: 60 },
)

export function describeFeedModel(context: Context): void {
  const { named, pass, known } = feedTools(context)
  let store: Store

  describe('feeds: a consumer that keeps to the rules', () => {
    useForgetting(context, KEPT_SECONDS, (opened) => {
      store = opened
    })

    const boom = new Error('boom')
    const feeds = () => store.feeds

    async function perform(feed: string, kind: string, key: string, value: number): Promise<unknown> {
      switch (kind) {
        case 'put':
          return feeds().put(feed, key, value)
        case 'delete':
          return feeds().delete(feed, key)
        case 'publish':
          return feeds().publish(feed)
        case 'republish':
          return feeds().republish(feed, { keys: [key] })
        case 'age':
          pass(KEPT_SECONDS + 1)
          return sweptFeeds(store)
        default: {
          const failed = store.transaction(async (tx) => {
            await tx.feeds.put(feed, key, 'never')
            throw boom
          })
          return failed.catch((error) => expect(error).toBe(boom))
        }
      }
    }

    it('ends with what there is, whatever happens in between', async () => {
      let startedOver = 0
      const property = fc.asyncProperty(operations, async (steps) => {
        const feed = named()
        await feeds().put(feed, 'first', 0)
        const learners = [plain(store, feed), stored(store, feed, 'stored'), plain(context.store, feed)].map(
          (keeping) => new Learner(keeping),
        )
        for (const [n, { kind, key, who, limit }] of steps.entries()) {
          if (kind === 'read') await learners[who]?.step(limit)
          else await perform(feed, kind, key, n)
        }
        await feeds().publish(feed)
        const there = new Map(Object.entries(await known(feed)))
        for (const learner of learners) {
          for (let steps = 0; await learner.step(2); steps++) if (steps > 100) throw new Error('it never ends')
          expect(learner.known).toEqual(there)
          startedOver += learner.startedOver
        }
      })
      await fc.assert(property, { numRuns: 10 })
      // Else this would have tried nothing.
      expect(startedOver).toBeGreaterThan(0)
    })
  })
}
