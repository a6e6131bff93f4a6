/** A handle of the client does what the calls do, against the app of the process. */
import { createClient } from '../../src/client'
import { createClient as createCalls } from '../../src/client/calls'
import { createApp, messagesOf } from '../../src/http/process/app'
import { FEED_CALLS, GROUP_CALLS, QUEUE_CALLS } from '../../src/shared/handles'
import { memoryStore, serving } from '../http/support/client'
import { expectCheckedBodies, expectCheckedValues, expectHandledWithSchema } from '../support/handle-schemas'
import { expectSame, feedSteps, groupSteps, queueSteps } from '../support/handle-steps'

test('a handle of the client does what the calls do', async () => {
  const app = createApp(await memoryStore({ publish: false }), { allowAnonymous: false })
  const client = createClient({ baseUrl: await serving(app, messagesOf(app)) })
  await expectSame(client.queue('a'), [client.queues, 'b'], queueSteps)
  await expectSame(client.group('a'), [client.groups, 'b'], groupSteps)
  await expectSame(client.feed('a'), [client.feeds, 'b'], feedSteps)
})

test.each<[string, typeof createCalls]>([
  ['client', createClient],
  ['client/calls', createCalls],
])('of %s it fills in its name where a call takes it as a member', async (_, create) => {
  const app = createApp(await memoryStore({ publish: false }), { allowAnonymous: false })
  const views = create({ baseUrl: await serving(app, messagesOf(app)) }).group<number>('views')
  expect(await views.appendMany([{ payload: 1 }, { payload: 2 }])).toMatchObject([
    { group: 'views', id: 0n },
    { group: 'views', id: 1n },
  ])
})

test('its iterations and its watch are those of its name', async () => {
  const app = createApp(await memoryStore({ publish: false }), { allowAnonymous: false })
  const client = createClient({ baseUrl: await serving(app, messagesOf(app)) })
  const [mail, views] = [client.queue<string>('mail'), client.group<string>('views')]
  await mail.put()
  await mail.send('a message')
  await views.append({ payload: 'an item' })
  const seen: string[] = []
  for await (const { body } of mail.allMessages()) seen.push(body)
  for await (const { payload } of views.allItems()) seen.push(payload)
  for await (const event of views.watch({ after: -1n })) {
    if (event.type === 'item') seen.push(event.item.payload)
    break
  }
  expect(seen).toEqual(['a message', 'an item', 'an item'])
})

test('with a schema it checks what goes in, and gives what the schema puts out', async () => {
  const store = await memoryStore({ publish: false })
  const app = createApp(store, { allowAnonymous: false })
  const client = createClient({ baseUrl: await serving(app, messagesOf(app)) })
  await client.queues.put('mail')
  await expectCheckedBodies(client, 'mail')
  await expectCheckedValues(client, 'users')
  await expectHandledWithSchema(client, ['mail', 'users'], () => store.feeds.publish())
})

test('the steps have every call of a handle', () => {
  for (const [steps, calls] of [
    [queueSteps, QUEUE_CALLS],
    [groupSteps, GROUP_CALLS],
    [feedSteps, FEED_CALLS],
  ] as const) {
    expect([...new Set(steps.map(([call]) => call))].sort()).toEqual(calls.split(' ').sort())
  }
})

test('an entry is written if it has the version that was read', async () => {
  const app = createApp(await memoryStore({ publish: false }), { allowAnonymous: false })
  const client = createClient({ baseUrl: await serving(app, messagesOf(app)) })
  const users = client.feed<{ visits: number }>('visits')
  const changed = { code: 'version_changed', status: 412 }
  expect(await users.put('fred', { visits: 1 }, { ifVersion: 0 })).toMatchObject({ version: 1 })
  await expect(users.put('fred', { visits: 2 }, { ifVersion: 0 })).rejects.toMatchObject(changed)
  expect(await users.put('fred', { visits: 2 }, { ifVersion: 1, timeoutSeconds: 9 })).toMatchObject({ version: 2 })
  await expect(users.delete('fred', { ifVersion: 1 })).rejects.toMatchObject(changed)
  const two = [
    { key: 'fred', value: { visits: 3 }, ifVersion: 1 },
    { key: 'jim', value: { visits: 1 }, ifVersion: 0 },
  ]
  const faults = [{ pointer: '/entries/0/ifVersion', detail: 'has version 2' }]
  await expect(users.putMany(two)).rejects.toMatchObject({ ...changed, faults })
  expect(await users.get('jim')).toBeNull()
  expect(await users.delete('fred', { ifVersion: 2 })).toMatchObject({ version: 3, deleted: true })
  await expect(users.put('fred', { visits: 4 }, { ifVersion: -1 })).rejects.toMatchObject({ code: 'invalid_input' })
})
