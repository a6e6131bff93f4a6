/** `/v1/groups/{group}/stream`: what happens to a group, as server-sent events. */
import type { GroupEvent } from '../../repositories/recent/types'
import { removedBody, renderItem, resetBody } from '../../results/groups'
import { nameParameter, optional, positionParameter } from '../input/parameters'
import * as example from '../openapi/groups'
import { type Route, route } from '../route'
import { pathName } from '../subjects'

const stream = route({
  method: 'get',
  path: '/v1/groups/{group}/stream',
  scope: 'read',
  about: pathName('groups', 'group'),
  pathParameters: { group: nameParameter('The group.', 'article:42') },
  queryParameters: {
    after: optional(positionParameter('Begin after this item, where there is no `Last-Event-ID`.', '41')),
  },
  operation: {
    id: 'streamGroup',
    tag: 'Items',
    summary: 'What happens to a group, as server-sent events',
    description:
      'Within a second of the commit, whichever process it is of: `item` (its id is the `id` of the event, its data the ' +
      'item) for what is appended, oldest first; `removed` (data `GroupRemoved`) for what is no longer in the window for ' +
      'another reason than newer items in a full one; `reset` (data `GroupReset`): read the group anew, of which ' +
      'items with an id of `total` or more are told yet. Whoever keeps the newest `capacity` items (in a ' +
      '`history` group only ids above the newest less `capacity`), without the removed ones, has the window. A comment ' +
      'every 15 seconds. From now on, or, with a `Last-Event-ID` or `after`, from that item on: what came since and is ' +
      'still there, or a `reset` where some of it was pushed out. A group that does not exist is waited for. The answer ' +
      'ends only when the client or the server leaves: `curl -N` shows what comes.',
    outcomes: {
      200: {
        description: 'The events, for as long as the client stays.',
        schema: 'GroupEvents',
        example: example.groupEvents,
        type: 'text/event-stream',
      },
    },
    refusals: ['draining'],
  },
  streams: true,
  async handle(store, { path: { group }, query, lastEventId, signal }) {
    const after = lastEventId ?? query.after ?? ((await store.groups.get(group))?.total ?? 0n) - 1n
    const watch = store.groups.watch(group, { after, signal, payloads: 'text' })
    await watch.ready
    return { status: 200, events: texts(after, watch) }
  },
})

async function* texts(after: bigint, events: AsyncIterable<GroupEvent>): AsyncIterable<string> {
  // No event, but a browser keeps it: cut off before the first one, it comes back to here.
  yield `id: ${after}\n\n`
  for await (const event of events) yield textOf(event)
}

function textOf(event: GroupEvent): string {
  if (event.type === 'item') return `id: ${event.item.id}\nevent: item\n${dataOf(renderItem(event.item))}\n`
  if (event.type === 'removed') return `event: removed\n${dataOf(JSON.stringify(removedBody(event)))}\n`
  // What is read anew has everything up to here: whoever is cut off after it goes on from here.
  return `id: ${event.total - 1n}\nevent: reset\n${dataOf(JSON.stringify(resetBody(event)))}\n`
}

/** A payload is the text that came in, and may have line breaks between its tokens. */
function dataOf(json: string): string {
  return `data: ${json.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n`
}

export const groupStreamRoutes: readonly Route[] = [stream]
