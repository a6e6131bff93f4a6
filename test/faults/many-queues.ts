/** Thousands of queues and feeds that are none of a message's business: how soon it is handled by another store. */
import { openStore, type Store } from '../../src'
import { describeEngine, freshDatabase } from '../support/engines'
import { multiply } from '../support/many'
import { eventually, SOON_MS, soonMs } from '../support/timing'

/** Doublings: 16,384 queues, 8,192 feeds. */
const [QUEUES, FEEDS] = [14, 13]
const MESSAGES = 150
const EVERY_MS = 50
/** Beside the time that it takes without them. */
const MOST_MORE_MS = 50

jest.setTimeout(180_000)

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export function describeManyQueues(engine: 'mariadb' | 'mysql'): void {
  describeEngine(engine, 'thousands of queues and feeds', () => {
    it('do not keep a message from its handler', async () => {
      const database = await freshDatabase(engine)
      const stores: Store[] = []
      const open = async () => {
        const store = await openStore({ url: database.url })
        stores.push(store)
        return store
      }
      try {
        const [sender, receiver] = [await open(), await open()]
        await sender.queues.put('many')
        await sender.queues.put('busy')
        await sender.feeds.put('many', 'k', 1)
        const alone = await medianMs(sender, receiver)
        await multiply(sender, 'recentn_queues', 'queue', QUEUES)
        await multiply(sender, 'recentn_feeds', 'feed', FEEDS)
        const among = await medianMs(sender, receiver)
        process.stdout.write(
          `${engine}: from send to handler, p50 of ${MESSAGES} messages: ${alone.toFixed(1)} ms, among ${2 ** QUEUES} queues and ${2 ** FEEDS} feeds ${among.toFixed(1)} ms\n`,
        )
        expect(among).toBeLessThan(alone + soonMs(MOST_MORE_MS))
      } finally {
        for (const store of stores) await store.close()
        await database.drop()
      }
    })
  })
}

/** From the send in one store to the handler in another, which learns of the message by looking. */
async function medianMs(sender: Store, receiver: Store): Promise<number> {
  const took: number[] = []
  const worker = receiver.queues.work<number>('busy', async ({ body }) => {
    took.push(Date.now() - body)
  })
  for (let n = 0; n < MESSAGES; n++) {
    await sender.queues.send('busy', Date.now())
    await sleep(EVERY_MS * (0.5 + Math.random()))
  }
  await eventually(SOON_MS, 'all are handled', () => took.length === MESSAGES)
  await worker.stop()
  took.sort((a, b) => a - b)
  return took[MESSAGES / 2] as number
}
