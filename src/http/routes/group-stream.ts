/** `/v1/groups/{group}/stream`: the changes of a group as server-sent events. */

import { GROUP_EVENTS, GROUP_REMOVED, GROUP_RESET, ITEM } from '../../fields/answers-groups'
import type { GroupEvent } from '../../shared/group-types'
import { optional, positionParameter } from '../input/parameters'
import { type Route, route, tagged } from '../route'

const stream = route('GET /v1/groups/{group}/stream', {
  scope: 'read',
  queryParameters: {
    after: optional(positionParameter('Start after this item, if there is no `Last-Event-ID`.', '41')),
  },
  id: 'streamGroup',
  summary: 'Stream the changes of a group as server-sent events',
  description:
    'Events arrive within a second of the commit, from every process. `item`: an appended item, oldest first; the `id` of ' +
    'the event is the id of the item, and its data the item. `removed` (data `GroupRemoved`): an item left the window for ' +
    'another reason than newer items in a full window. `reset` (data `GroupReset`): discard your local state and reload ' +
    'the group; ignore items with an id of `totalAppended` or more, which follow as events. To mirror the window, keep the newest ' +
    '`capacity` items without the removed ones. In a `history` group keep only ids above the newest id minus `capacity`, in ' +
    'a `distinct` or `top` group one item of each member. A ' +
    'comment follows every 15 seconds. The stream starts now, or after the item of `Last-Event-ID` or `after`. Then the ' +
    'items since that are still in the window come first, or a `reset` if some of them were pushed out. If the group does ' +
    'not exist, the stream waits for it. The stream ends only when the client or the server closes it; `curl -N` shows its ' +
    'events.',
  outcomes: {
    200: {
      description: 'The events, until the client or the server closes the stream.',
      shape: GROUP_EVENTS,
      type: 'text/event-stream',
    },
  },
  refusals: ['draining'],
  streams: true,
  async handle(store, { path: { group }, query, lastEventId, signal }) {
    const from = lastEventId === undefined ? { after: query.after } : { after: lastEventId, resumes: true }
    const watch = store.groups.watch(group, { ...from, signal, payloads: 'text' })
    return { status: 200, events: texts(await watch.ready, watch) }
  },
})

async function* texts(after: bigint, events: AsyncIterable<GroupEvent>): AsyncIterable<string> {
  // Not an event, but a browser keeps the id: if it is cut off before the first event, it reconnects from here.
  yield `id: ${after}\n\n`
  for await (const event of events) yield textOf(event)
}

function textOf(event: GroupEvent): string {
  if (event.type === 'item') return `id: ${event.item.id}\nevent: item\n${dataOf(ITEM.json(event.item))}\n`
  if (event.type === 'removed') return `event: removed\n${dataOf(GROUP_REMOVED.json(event))}\n`
  // The reloaded group has everything up to here: a client that is cut off after the reset continues from here.
  return `id: ${event.totalAppended - 1n}\nevent: reset\n${dataOf(GROUP_RESET.json(event))}\n`
}

/** A payload is the text that was sent, and may have line breaks between its tokens. */
function dataOf(json: string): string {
  return `data: ${json.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n`
}

export const groupStreamRoutes: readonly Route[] = tagged('Items', [stream])
