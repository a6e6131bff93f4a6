/** Thousands of queues and feeds that are none of a message's business: how soon it is handled by another store. */
import { openStore, type Store } from '../../src'
import { describeEngine, freshDatabase } from '../support/engines'
import { multiply } from '../support/many'
import { eventually, SOON_MS, soonMs } from '../support/timing'

/** Doublings: 16,384 queues, 8,192 feeds. */
const [QUEUES, FEEDS] = [14, 13]
const MESSAGES = 150
const EVERY_MS = 50
/** Beside the time that it takes without them, and the rows that the server reads for it. */
const MOST_MORE_MS = 50
const MOST_MORE_ROWS = 200

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
        const alone = await handled(sender, receiver)
        await multiply(sender, 'recentn_queues', 'queue', QUEUES)
        await multiply(sender, 'recentn_feeds', 'feed', FEEDS)
        const among = await handled(sender, receiver)
        process.stdout.write(
          `${engine}: ${textOf(alone)}; among ${2 ** QUEUES} queues and ${2 ** FEEDS} feeds ${textOf(among)}\n`,
        )
        expect(among.medianMs).toBeLessThan(alone.medianMs + soonMs(MOST_MORE_MS))
        expect(among.rowsPerSecond).toBeLessThan(alone.rowsPerSecond + MOST_MORE_ROWS)
      } finally {
        for (const store of stores) await store.close()
        await database.drop()
      }
    })
  })
}

interface Handled {
  medianMs: number
  rowsPerSecond: number
}

const textOf = ({ medianMs, rowsPerSecond }: Handled) =>
  `p50 from send to handler ${medianMs} ms, ${Math.round(rowsPerSecond)} rows read a second`

/** Messages sent in one store and handled in another, which learns of them by polling. */
async function handled(sender: Store, receiver: Store): Promise<Handled> {
  const took: number[] = []
  const worker = receiver.queues.work<number>('busy', async ({ body }) => {
    took.push(Date.now() - body)
  })
  const rowsBefore = await rowsRead(sender)
  const begun = Date.now()
  for (let n = 0; n < MESSAGES; n++) {
    await sender.queues.send('busy', Date.now())
    await sleep(EVERY_MS * (0.5 + Math.random()))
  }
  await eventually(SOON_MS, 'all are handled', () => took.length === MESSAGES)
  const rowsPerSecond = (1000 * ((await rowsRead(sender)) - rowsBefore)) / (Date.now() - begun)
  await worker.stop()
  took.sort((a, b) => a - b)
  return { medianMs: took[MESSAGES / 2] as number, rowsPerSecond }
}

/** By everybody on the server: nothing runs on it beside this test. */
async function rowsRead(store: Store): Promise<number> {
  const rows: { Value: string }[] = await store.dataSource.query("SHOW GLOBAL STATUS LIKE 'Handler_read%'")
  return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
}
