/** The rates of a queue in a browser: set in the form, and what waits for them. */
import { openPage } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

test('a rate is set in the form, is refused where it is none, and what waits for it is shown', async () => {
  await server.call('PUT', 'queues/rated', {})
  await server.call('POST', 'queues/rated/messages', { messages: [1, 2, 3].map((body) => ({ body })) })
  const page = await openPage(`${server.url}/#/queues/rated`, { expected: [400] })
  await page.getByRole('button', { name: 'Change settings' }).click()
  const dialog = page.getByRole('dialog')
  const rate = dialog.getByLabel('Rate', { exact: false }).first()
  await rate.fill('{"messages": 1}')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').filter({ hasText: 'perSeconds' }).waitFor()
  expect(await server.call('GET', 'queues/rated')).toMatchObject({ rateLimit: null })
  await rate.fill('{"messages": 1, "perSeconds": 600}')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await server.call('GET', 'queues/rated')).toMatchObject({ rateLimit: { messages: 1, perSeconds: 600 } })
  const facts = page.locator('dl').filter({ hasText: 'Rate' })
  await facts.filter({ hasText: '1 in 10 min' }).first().waitFor()
  for (const received of [1, 0]) {
    const { messages } = (await server.call('POST', 'queues/rated/receive', { limit: 10 })) as { messages: unknown[] }
    expect(messages).toHaveLength(received)
  }
  await page.reload()
  await facts
    .filter({ hasText: /Wait for a turn2/ })
    .first()
    .waitFor()
}, 120_000)
