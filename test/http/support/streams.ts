/** A client of streams of server-sent events, as a browser is one. */

import { eventually as asksUntil, pause, SOON_MS } from '../../support/timing'

export { pause }

export function eventually(what: string, ask: () => boolean, withinMs = SOON_MS): Promise<void> {
  return asksUntil(withinMs, what, ask, 10)
}

export interface Event {
  event: string
  id: string | null
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  data: any
}

export interface Listening {
  status: number
  headers: Headers
  text(): string
  events: Event[]
  /** Resolves when so many events have come. */
  until(count: number, withinMs?: number): Promise<void>
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>
  close(): void
}

const open: (() => void)[] = []

/** Leaves all streams. */
export function closeStreams(): void {
  for (const close of open.splice(0)) close()
}

/** Listens as a browser does; resolves when the answer has begun. */
export async function listening(url: string, path: string, headers: Record<string, string> = {}): Promise<Listening> {
  const ending = new AbortController()
  open.push(() => ending.abort())
  const answer = await fetch(url + path, { headers, signal: ending.signal })
  const events: Event[] = []
  let text = ''
  let rest = ''
  const ended = (async () => {
    const decoder = new TextDecoder()
    try {
      for await (const bytes of answer.body as unknown as AsyncIterable<Uint8Array>) {
        const came = decoder.decode(bytes, { stream: true })
        text += came
        const blocks = (rest + came).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) {
          const event = eventOf(block)
          if (event) events.push(event)
        }
      }
    } catch {
      // It was closed, from here or from there.
    }
  })()
  const until = (count: number, withinMs?: number) =>
    eventually(`${count} events: ${text.slice(0, 500)}`, () => events.length >= count, withinMs)
  const { status, headers: given } = answer
  return { status, headers: given, text: () => text, events, until, ended, close: () => ending.abort() }
}

/** As the standard reads a block; none where there is no data. */
function eventOf(block: string): Event | null {
  const event: Event = { event: 'message', id: null, data: null }
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (field === 'event') event.event = value as string
    if (field === 'id') event.id = value as string
    if (field === 'data') data.push(value as string)
  }
  return data.length === 0 ? null : { ...event, data: JSON.parse(data.join('\n')) }
}

/** `+3` for an item, `-3` for a removed one, otherwise the name of the event. */
export const inShort = ({ events }: Listening) =>
  events.map(({ event, id, data }) => (event === 'item' ? `+${id}` : event === 'removed' ? `-${data.id}` : event))
