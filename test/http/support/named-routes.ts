/** Requests of every route about what begins with a prefix, and what there is for them to find. */
import type { Store } from '../../../src/store/types'
import type { Loose } from './client'

export interface Asked {
  path: string
  json?: unknown
  /** Where in the request the names are that are outside. */
  at?: string[]
}

/** By operation: a request about what begins with `side`. */
export const NAMED: Record<string, (side: string) => Asked> = {
  appendItem: (side) => ({ path: `/v1/groups/${side}g/items`, json: {}, at: ['group'] }),
  recentItems: (side) => ({ path: `/v1/groups/${side}g/items`, at: ['group'] }),
  clearGroup: (side) => ({ path: `/v1/groups/${side}cleared/items`, at: ['group'] }),
  changeScore: (side) => ({ path: `/v1/groups/${side}top/scores`, json: { member: 't', by: 1 }, at: ['group'] }),
  getItem: (side) => ({ path: `/v1/groups/${side}kept/items/0`, at: ['group'] }),
  removeItem: (side) => ({ path: `/v1/groups/${side}g/items/1`, at: ['group'] }),
  appendItems: (side) => ({
    path: '/v1/items',
    json: { items: [{ group: 'in:g' }, { group: `${side}g` }, { group: 'in:h' }, { group: `${side}h` }] },
    at: ['/items/1/group', '/items/3/group'],
  }),
  recentItemsOfMany: (side) => ({ path: `/v1/items?group=in:h&group=${side}g`, at: ['group'] }),
  getGroup: (side) => ({ path: `/v1/groups/${side}g`, at: ['group'] }),
  groupLosses: (side) => ({ path: `/v1/groups/${side}g/losses`, json: { capacity: 7 }, at: ['group'] }),
  putGroup: (side) => ({ path: `/v1/groups/${side}g`, json: { capacity: 7 }, at: ['group'] }),
  updateGroup: (side) => ({ path: `/v1/groups/${side}g`, json: { capacity: 8 }, at: ['group'] }),
  dropGroup: (side) => ({ path: `/v1/groups/${side}deleted`, at: ['group'] }),
  streamGroup: (side) => ({ path: `/v1/groups/${side}g/stream`, at: ['group'] }),
  getPolicy: (side) => ({ path: `/v1/policies/${side}`, at: ['prefix'] }),
  putPolicy: (side) => ({ path: `/v1/policies/${side}`, json: { capacity: 9, mode: 'history' }, at: ['prefix'] }),
  policyLosses: (side) => ({ path: `/v1/policies/${side}/losses`, json: {}, at: ['prefix'] }),
  updatePolicy: (side) => ({ path: `/v1/policies/${side}`, json: { capacity: 7 }, at: ['prefix'] }),
  dropPolicy: (side) => ({ path: `/v1/policies/${side}deleted`, at: ['prefix'] }),
  getQueue: (side) => ({ path: `/v1/queues/${side}q`, at: ['queue'] }),
  putQueue: (side) => ({
    path: '/v1/queues/in:q',
    json: { deadLetterQueue: `${side}letters` },
    at: ['/deadLetterQueue'],
  }),
  updateQueue: (side) => ({
    path: '/v1/queues/in:q',
    json: { deadLetterQueue: `${side}letters` },
    at: ['/deadLetterQueue'],
  }),
  pauseQueue: (side) => ({ path: `/v1/queues/${side}purged/pause`, at: ['queue'] }),
  resumeQueue: (side) => ({ path: `/v1/queues/${side}purged/resume`, json: {}, at: ['queue'] }),
  holdQueue: (side) => ({ path: `/v1/queues/${side}purged/hold`, json: { seconds: 0 }, at: ['queue'] }),
  dropQueue: (side) => ({ path: `/v1/queues/${side}deleted`, at: ['queue'] }),
  queueErrors: (side) => ({ path: `/v1/queues/${side}letters/errors`, at: ['queue'] }),
  queueHistory: (side) => ({ path: `/v1/queues/${side}letters/history`, at: ['queue'] }),
  queueReceivers: (side) => ({ path: `/v1/queues/${side}letters/receivers`, at: ['queue'] }),
  redriveQueue: (side) => ({ path: `/v1/queues/${side}letters/redrive`, json: {}, at: ['queue'] }),
  promoteMessages: (side) => ({ path: `/v1/queues/${side}purged/promote`, json: { ids: ['1'] }, at: ['queue'] }),
  purgeQueue: (side) => ({ path: `/v1/queues/${side}purged/purge`, json: {}, at: ['queue'] }),
  sendMessages: (side) => ({ path: `/v1/queues/${side}q/messages`, json: { body: 1 }, at: ['queue'] }),
  peekMessages: (side) => ({ path: `/v1/queues/${side}q/messages`, at: ['queue'] }),
  getMessage: (side) => ({ path: `/v1/queues/${side}q/messages/${ids[`${side}q`]}`, at: ['queue'] }),
  removeMessage: (side) => ({ path: `/v1/queues/${side}q/messages/${ids[`${side}q`]}`, at: ['queue'] }),
  cancelMessage: (side) => ({ path: `/v1/queues/${side}keyed/keys/k`, at: ['queue'] }),
  receiveMessages: (side) => ({ path: `/v1/queues/${side}q/receive`, json: {}, at: ['queue'] }),
  cycleMessages: (side) => ({ path: `/v1/queues/${side}q/cycle`, json: {}, at: ['queue'] }),
  ackMessages: (side) => ({
    path: `/v1/queues/${side}held/ack`,
    json: { receiptHandles: [ids[`${side}held`]] },
    at: ['queue'],
  }),
  nackMessages: (side) => ({
    path: `/v1/queues/${side}held/nack`,
    json: { receiptHandles: [ids[`${side}held`]] },
    at: ['queue'],
  }),
  extendMessages: (side) => ({
    path: `/v1/queues/${side}held/extend`,
    json: { receiptHandles: [ids[`${side}held`]], visibilityTimeoutSeconds: 900 },
    at: ['queue'],
  }),
  getSchedule: (side) => ({ path: `/v1/schedules/${side}s`, at: ['schedule'] }),
  putSchedule: (side) => ({
    path: `/v1/schedules/${side}s`,
    json: { queue: `${side}q`, everySeconds: 86_400, body: 2 },
    at: ['schedule', '/queue'],
  }),
  updateSchedule: (side) => ({
    path: `/v1/schedules/${side}s`,
    json: { queue: `${side}q`, body: 3 },
    at: ['schedule', '/queue'],
  }),
  dropSchedule: (side) => ({ path: `/v1/schedules/${side}deleted`, at: ['schedule'] }),
  getFeedStatus: (side) => ({ path: `/v1/feeds/${side}f`, at: ['feed'] }),
  dropFeed: (side) => ({ path: `/v1/feeds/${side}deleted`, at: ['feed'] }),
  republishEntries: (side) => ({ path: `/v1/feeds/${side}f/republish`, json: { prefix: '' }, at: ['feed'] }),
  getEntry: (side) => ({ path: `/v1/feeds/${side}f/entries/k`, at: ['feed'] }),
  putEntry: (side) => ({ path: `/v1/feeds/${side}f/entries/k`, json: { value: 2 }, at: ['feed'] }),
  deleteEntry: (side) => ({ path: `/v1/feeds/${side}f/entries/gone`, at: ['feed'] }),
  putEntries: (side) => ({
    path: `/v1/feeds/${side}f/entries`,
    json: { entries: [{ key: 'in:k', value: 1 }] },
    at: ['feed'],
  }),
  getChanges: (side) => ({ path: `/v1/feeds/${side}f/changes`, at: ['feed'] }),
  getCursor: (side) => ({ path: `/v1/feeds/${side}f/consumers/c`, at: ['feed'] }),
  moveCursor: (side) => ({ path: `/v1/feeds/${side}f/consumers/c`, json: { cursor: '1' }, at: ['feed'] }),
  dropCursor: (side) => ({ path: `/v1/feeds/${side}f/consumers/gone`, at: ['feed'] }),
}

/** By operation: a list, of which only what begins with the prefix may be seen, and the names that it shows. */
export const LISTS: Record<string, { path: string; names: (json: Loose) => unknown[] }> = {
  listGroups: { path: '/v1/groups', names: (json) => namesIn(json.groups, 'group') },
  listPolicies: { path: '/v1/policies', names: (json) => namesIn(json.policies, 'prefix') },
  listQueues: { path: '/v1/queues', names: (json) => namesIn(json.queues, 'queue') },
  listSchedules: { path: '/v1/schedules', names: (json) => namesIn(json.schedules, 'schedule') },
  listFeeds: { path: '/v1/feeds', names: (json) => namesIn(json.feeds, 'feed') },
  memberItems: { path: '/v1/members/m/items', names: (json) => namesIn(json.items, 'group') },
}

/** Tried by another test. */
export const OTHERS = ['eraseMember', 'getAccess', 'getOverview']

export const namesIn = (list: unknown, name: string) => (list as Loose[]).map((each) => each[name])

/** Message ids and receipt handles, by queue. */
export const ids: Record<string, string> = {}

/** The same things, by names that begin with `side`. */
export async function seed(store: Store, side: string): Promise<void> {
  const { groups, policies, queues, schedules, feeds } = store
  for (const group of ['g', 'cleared', 'deleted']) {
    await groups.append(`${side}${group}`, { member: 'm', payload: side })
    await groups.append(`${side}${group}`, { member: 'n' })
  }
  await groups.append(`${side}kept`)
  await groups.put(`${side}top`, { mode: 'top' })
  await groups.append(`${side}top`, { member: 't', score: 1 })
  for (const prefix of ['', 'deleted']) await policies.put(`${side}${prefix}`, { capacity: 8, mode: 'history' })
  await queues.put(`${side}letters`)
  await queues.put(`${side}dying`, { deadLetterQueue: `${side}letters` })
  for (const queue of ['q', 'held', 'deleted', 'purged']) {
    await queues.put(`${side}${queue}`)
    const { id } = await queues.send(`${side}${queue}`, side)
    ids[side + queue] = String(id)
  }
  for (const [queue, dead] of [
    ['held', false],
    ['dying', true],
  ] as const) {
    if (dead) await queues.send(`${side}${queue}`, 'dead')
    const messages = await queues.receive(`${side}${queue}`, { visibilityTimeoutSeconds: 3600 })
    ids[side + queue] = messages[0]?.receiptHandle as string
    if (dead) await queues.nackMany(`${side}${queue}`, [ids[side + queue] as string], { dead: true })
  }
  await queues.put(`${side}keyed`)
  await queues.send(`${side}keyed`, side, { key: 'k' })
  for (const schedule of ['s', 'deleted']) {
    await schedules.put(`${side}${schedule}`, { queue: `${side}letters`, everySeconds: 86_400, body: side })
  }
  for (const feed of ['f', 'deleted']) {
    for (const key of ['k', 'gone']) await feeds.put(`${side}${feed}`, key, side)
    await feeds.publish(`${side}${feed}`)
    for (const consumer of ['c', 'gone']) await feeds.moveCursor(`${side}${feed}`, consumer, 0n)
  }
}

const asText = (value: unknown) => JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each))

/** All that is stored by names that begin with `side`. */
export async function worldOf({ groups, policies, queues, schedules, feeds }: Store, side: string): Promise<string> {
  const world: unknown[] = [(await policies.list()).policies.filter(({ prefix }) => prefix.startsWith(side))]
  for (const { group, ...settings } of (await groups.list({ prefix: side })).groups) {
    world.push(group, settings, await groups.recent(group, { limit: 100 }))
  }
  for (const { queue } of (await queues.list({ prefix: side })).queues) {
    const { oldestAgeSeconds: _, counts: __, died: ___, ...settings } = (await queues.get(queue)) ?? {}
    world.push(settings)
    for (const state of ['ready', 'in-flight', 'delayed', 'dead', 'archived'] as const) {
      const { messages } = await queues.peek(queue, { state })
      // Its receiver reports by itself.
      world.push(messages.map(({ receiver: _, ...message }) => message))
    }
  }
  for (const { schedule } of (await schedules.list({ prefix: side })).schedules) {
    world.push(await schedules.get(schedule))
  }
  for (const { feed } of (await feeds.list({ prefix: side })).feeds) {
    const { consumers } = (await feeds.status(feed)) ?? {}
    world.push(feed, consumers, await feeds.changes(feed), await feeds.get(feed, 'k'), await feeds.get(feed, 'gone'))
  }
  return asText(world)
}
