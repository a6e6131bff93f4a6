/** The client's changes of queues, and its answers about queues that are not there. */
import { createClient } from '../../src/client'
import { createApp, messagesOf } from '../../src/http/process/app'
import { memoryStore, serving } from '../http/support/client'

test('queues are ensured, changed, paused and resumed', async () => {
  const app = createApp(await memoryStore(), { allowAnonymous: false })
  const { queues } = createClient({ baseUrl: await serving(app, messagesOf(app)) })
  const ensured = await queues.ensure('mail')
  expect(ensured).toMatchObject({ queue: 'mail', maxReceives: 5, created: true, createdAt: expect.any(Date) })
  expect(await queues.ensure('mail', { maxReceives: 9 })).toEqual({ ...ensured, created: false })
  expect(await queues.update('mail', { maxReceives: null })).toMatchObject({ maxReceives: null })
  expect(await queues.pause('mail')).toMatchObject({ maxReceives: null, paused: true })
  expect(await queues.put('mail')).toMatchObject({ maxReceives: 5, paused: true, created: false })
  expect(await queues.resume('mail')).toEqual({ ...ensured, created: undefined })
})

test('a queue that is not there is neither paused, nor resumed, nor changed', async () => {
  const app = createApp(await memoryStore(), { allowAnonymous: false })
  const { queues } = createClient({ baseUrl: await serving(app, messagesOf(app)) })
  const calls = [() => queues.pause('nobody'), () => queues.resume('nobody'), () => queues.update('nobody', {})]
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'queue_not_found', status: 404 })
  expect(await queues.get('nobody')).toBeNull()
})

test('settings that have another tag stay, also where the tag is none that a header can have', async () => {
  const app = createApp(await memoryStore(), { allowAnonymous: false })
  const { queues } = createClient({ baseUrl: await serving(app, messagesOf(app)) })
  const { tag } = await queues.ensure('mail')
  const changed = await queues.put('mail', { maxReceives: 9 }, { ifTag: tag })
  for (const ifTag of [tag, '', 'a\nb', 'é"']) {
    const refused = { code: 'settings_changed', status: 412 }
    await expect(queues.update('mail', { maxReceives: 1 }, { ifTag })).rejects.toMatchObject(refused)
  }
  expect(await queues.update('mail', {}, { ifTag: '*' })).toMatchObject({ maxReceives: 9, tag: changed.tag })
})
