/**
 * The windows of one browser share streams, because it has six connections to a server over HTTP/1.1. One of the visible windows of
 * a group holds the group's lock: it reads the stream, and passes its events to the others over a channel. When it is closed or
 * hidden, or its stream ends, another one takes over. At most three holders have a stream.
 *
 * Browsers have locks with HTTPS and on localhost. Elsewhere each window is on its own and has no stream.
 *
 * Only windows with the same key share: the names of the lock and the channel have the key's public part, `rk_<id>`, and never its
 * secret. A key with a wrong secret learns nothing, because a window hears nothing before it has read the items itself.
 */
import { onAbort } from '../shared/backoff'
import type { GroupEvent, Item } from '../shared/group-types'
import { transport } from './api'
import { keyName, session } from './session'

/** Resolves to true once this window has the lock, which it keeps until the signal is aborted; to false if it may not wait. */
function hold(name: string, signal: AbortSignal, mayWait: boolean): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const keep = (lock: Lock | null) => {
      resolve(lock !== null)
      return lock && new Promise<void>((free) => void onAbort(signal, free))
    }
    navigator.locks.request(name, mayWait ? { signal } : { ifAvailable: true }, keep).catch(reject)
  })
}

/** Takes a stream for this window until the signal is aborted; false if other windows have all of them. */
export async function takeStream(signal: AbortSignal): Promise<boolean> {
  if (navigator.locks === undefined) return false
  for (const number of [1, 2, 3]) if (await hold(`recentn-stream-${number}`, signal, false)) return true
  return false
}

/** This window among those of the group, until the signal is aborted. */
export function joinWindows(group: string, signal: AbortSignal) {
  const name = JSON.stringify(['recentn.group', location.pathname, keyName(session.key ?? ''), group])
  const channel = new BroadcastChannel(name)
  onAbort(signal, () => channel.close())
  const heard = new ReadableStream<GroupEvent | null>({
    async start(controller) {
      channel.onmessage = ({ data }) => {
        const isItem = typeof data === 'string'
        controller.enqueue(isItem ? { type: 'item', item: transport.parse(data) as Item } : data)
      }
      if (navigator.locks !== undefined) await hold(name, signal, true)
      channel.onmessage = null
      controller.close()
    },
  })
  return {
    /** The holder's events, and null if the items are to be read. It ends when this window becomes the holder. */
    heard: heard.getReader(),
    /** An item goes as its JSON: a copy would lose digits of large numbers. */
    tell: (event: GroupEvent | null) =>
      channel.postMessage(event?.type === 'item' ? JSON.stringify(event.item) : event),
  }
}
