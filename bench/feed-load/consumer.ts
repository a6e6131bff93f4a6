/**
 * A consumer in a process of its own: `node consumer.js URL`. Waits for changes and tells of each when it came, by the
 * clock that all processes of a machine share, until it is told to end.
 */
import { openStore } from '../../src'
import { FEED, markIn, PAGE } from './entries'

/** A change that came: -1 as its mark when it was not as it was written. */
export interface Came {
  mark: number
  /** Nanoseconds. */
  at: string
}

async function consume(url: string): Promise<void> {
  const store = await openStore({ url, migrate: false })
  const ending = new AbortController()
  process.once('message', () => ending.abort())
  process.send?.('ready')
  for (let after = 0n; !ending.signal.aborted; ) {
    const page = await store.feeds.changes(FEED, { after, limit: PAGE, waitSeconds: 20, signal: ending.signal })
    const at = String(process.hrtime.bigint())
    const came: Came[] = page.changes.map((change) => ({ mark: markIn(change), at }))
    if (came.length > 0) process.send?.(came)
    after = page.cursor
  }
  await store.close()
  process.disconnect?.()
}

void consume(process.argv[2] as string)
