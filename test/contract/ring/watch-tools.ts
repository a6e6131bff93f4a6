/** Shared by the suites of watched groups. */
import type { GroupEvent, GroupWatch } from '../../../src/index'
import { SOON_MS } from '../../support/timing'
import { type Context, eventually } from '../context'

/** A watch that is listened to until the test ends. */
export interface Following {
  ready: Promise<bigint>
  events: GroupEvent[]
  /** The events in short: `+3 member`, `-3`, `reset <capacity> <totalAppended>`. */
  told: string[]
  /** Resolves when that number of events has come, and a little later no more; rejects after `withinMs`. */
  until(count: number, withinMs?: number): Promise<void>
  /** Resolves when the watch has ended. */
  end: Promise<void>
}

export function following(context: Context, watch: GroupWatch): Following {
  const events: GroupEvent[] = []
  const short: string[] = []
  const end = (async () => {
    for await (const event of watch) {
      events.push(event)
      short.push(inShort(event))
    }
  })()
  context.afterwards(() => watch.return())
  return {
    ready: watch.ready,
    events,
    told: short,
    end,
    until: (count, withinMs = SOON_MS) =>
      eventually(withinMs, `${count} events, not [${short}]`, async () => events.length >= count),
  }
}

function inShort(event: GroupEvent): string {
  if (event.type === 'removed') return `-${event.id}`
  if (event.type === 'reset') return `reset ${event.capacity} ${event.totalAppended}`
  return `+${event.item.id}${event.item.member === null ? '' : ` ${event.item.member}`}`
}

/** The ids that a listener has which keeps the newest `capacity` items it was sent, without those removed. */
export function told(events: readonly GroupEvent[], capacity: number): bigint[] {
  let ids: bigint[] = []
  for (const event of events) {
    if (event.type === 'item') ids = [...ids, event.item.id].slice(-capacity)
    if (event.type === 'removed') ids = ids.filter((id) => id !== event.id)
    if (event.type === 'reset') throw new Error('the window can not be told from here')
  }
  return ids
}
