/** The JSON of a result is the JSON that the server answered. */
import { type Client, createClient } from '../../src/client'
import { startApp } from '../http/support/client'

let url: string
let client: Client
beforeAll(async () => {
  ;({ url } = await startApp())
  client = createClient({ baseUrl: url })
})

const sent = (result: unknown): unknown => JSON.parse(JSON.stringify(result))
const get = async (path: string): Promise<unknown> => (await fetch(`${url}/v1${path}`)).json()

test('items, pages of them, and groups', async () => {
  const payload = { id: '7', tag: 'mine', createdAt: 1, totalAppended: '9' }
  const item = await client.groups.append('g', { member: 'm', payload, occurredAt: new Date(0) })
  const page = await client.groups.recent('g')
  const answered = (await get('/groups/g/items')) as { items: unknown[] }
  expect(sent(item)).toEqual(answered.items[0])
  expect(sent(page)).toEqual(answered)
  expect(sent(page.items)).toEqual(answered.items)
  expect(sent(await client.groups.recentMany(['g']))).toEqual(((await get('/items?group=g')) as { groups: [] }).groups)
  expect(sent(await client.groups.put('g', { capacity: 5 }))).toEqual(await get('/groups/g'))
  expect(sent(await client.groups.list())).toEqual(await get('/groups'))
  expect(sent(await client.policies.put('p:', { capacity: 5, mode: 'history' }))).toEqual(await get('/policies/p:'))
  expect(sent(await client.policies.list())).toEqual(await get('/policies'))
})

test('queues, messages and entries', async () => {
  const { queues, feeds } = client
  await queues.put('q')
  const attributes = { id: '7', createdAt: 'then', cursor: '8' }
  const body = { id: '1', ids: ['2'], sentAt: 'now' }
  expect(sent(await queues.send('q', body, { attributes }))).toEqual({
    id: expect.stringMatching(/^\d+$/),
    sent: true,
  })
  expect(sent(await queues.get('q'))).toEqual(await get('/queues/q'))
  const [message] = await queues.receive('q')
  expect(message).toMatchObject({ attributes, body })
  expect(sent(message)).toMatchObject({
    id: String(message?.id),
    sentAt: message?.sentAt.toISOString(),
    attributes,
    body,
  })
  await feeds.put('f', 'k', 1)
  // Published already, so that both reads find the same entry.
  await feeds.changes('f', { after: 0n, waitSeconds: 20 })
  expect(sent(await feeds.get('f', 'k'))).toEqual(await get('/feeds/f/entries/k'))
  expect(sent(await feeds.cursor('f', 'c'))).toEqual(await get('/feeds/f/consumers/c'))
})

test('results are plain objects', async () => {
  const page = await client.groups.recent('nobody')
  expect(page).toStrictEqual({
    ...{ group: 'nobody', capacity: 10, mode: 'history', totalAppended: 0n, items: [], nextBefore: null },
    tag: expect.any(String),
  })
})
