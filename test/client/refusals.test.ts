/** The errors that the client throws for refused calls. */
import { type Client, createClient, RecentnError } from '../../src/client'
import { createApp } from '../../src/http/process/app'
import { memoryStore, serving, startApp } from '../http/support/client'

const bad = { code: 'invalid_input', status: 400 }

let client: Client
beforeAll(async () => {
  client = createClient({ baseUrl: (await startApp()).url })
})

describe('a refusal', () => {
  test('has all that the server says', async () => {
    const refused = client.groups.recent('g', { limit: 0, exclude: ['.'] })
    await expect(refused).rejects.toBeInstanceOf(RecentnError)
    await expect(refused).rejects.toMatchObject({
      ...bad,
      requestId: expect.stringMatching(/./),
      faults: expect.arrayContaining([{ parameter: 'limit', detail: expect.any(String) }]),
    })
    const item = { group: 'g', member: '..' }
    const faults = [{ pointer: '/items/0/member', detail: expect.any(String) }]
    await expect(client.groups.appendMany([item])).rejects.toMatchObject({ ...bad, faults })
  })

  test('comes before anything is sent for what has no form on the wire', async () => {
    const wrong = { code: 'invalid_input', status: 400, requestId: undefined }
    const circle: unknown[] = []
    circle.push([circle])
    for (const [payload, pointer, said] of <[unknown, string, string][]>[
      [1n, '/payload', 'BigInt'],
      [{ tags: [1, new Map()] }, '/payload/tags/1', 'Map'],
      [circle, '/payload/0/0', 'circular'],
      [{ id: 1n, ids: [1n], cursor: 1n }, '/payload/id', 'BigInt'],
    ]) {
      const detail = expect.stringContaining(said)
      const refused = client.groups.append('g', { payload })
      await expect(refused).rejects.toMatchObject({ ...wrong, faults: [{ pointer, detail }] })
    }
    await expect(client.queues.send('q', undefined as unknown)).rejects.toMatchObject({
      faults: [{ pointer: '/body' }],
    })
    const item = { group: 'g', occurredAt: new Date(Number.NaN) }
    const faults = [{ pointer: '/items/0/occurredAt', detail: expect.stringContaining('no valid Date') }]
    await expect(client.groups.appendMany([item])).rejects.toMatchObject({ ...wrong, faults })
    await expect(client.groups.remove('g', '../x' as unknown as bigint)).rejects.toMatchObject(wrong)
  })

  test('of a key, and a key that is asked for each time', async () => {
    const guarded = await memoryStore()
    const base = await serving(createApp(guarded, { allowAnonymous: false }))
    const { key } = await guarded.keys.create({ label: 'l', scopes: ['read'] })
    const { groups } = createClient({ baseUrl: base, key })
    expect(await groups.get('g')).toBeNull()
    await expect(groups.append('g')).rejects.toMatchObject({ code: 'forbidden', status: 403 })
    let now: string = 'rk_wrong'
    const changing = createClient({ baseUrl: base, key: async () => now })
    await expect(changing.groups.get('g')).rejects.toMatchObject({ code: 'unauthorized', status: 401 })
    now = key
    expect(await changing.groups.get('g')).toBeNull()
  })
})
