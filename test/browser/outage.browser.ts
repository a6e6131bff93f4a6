/** An outage is one bar, with the age of what stays on the page; and a dead message is retried on its own page. */
import { openPage } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

test('an outage is said once, and what was there stays until the server answers', async () => {
  await server.call('PUT', 'queues/o-mail', {})
  await server.call('POST', 'queues/o-mail/messages', { messages: [{ body: 1 }, { body: 2 }] })
  const page = await openPage(`${server.url}/#/queues/o-mail`, { said: /Failed to load resource/ })
  const figures = page.getByLabel('Figures')
  await figures.getByText('2', { exact: true }).waitFor()
  // The messages come after the figures. A list that was never there says by itself that the server does not answer.
  await page.locator('tbody tr').first().waitFor()
  await page.route('**/v1/**', (route) => route.abort())
  const bar = page.locator('.outage')
  await bar.getByText('The server does not answer.').waitFor()
  expect(await page.getByText('The server does not answer.').count()).toBe(1)
  expect(await bar.textContent()).toMatch(/Shown is what was there (now|\d+ s ago)\./)
  expect(await figures.getByText('2', { exact: true }).count()).toBe(1)
  // The page asks again by itself, too. Without an answer its bar stays until the button is pressed.
  let press = () => {}
  const pressed = new Promise<void>((resolve) => {
    press = resolve
  })
  await page.route('**/v1/**', (route) => pressed.then(() => route.continue()))
  await bar.getByRole('button', { name: 'Try again' }).click()
  press()
  await bar.waitFor({ state: 'detached' })
})

test('a dead message is retried on its page', async () => {
  await server.call('PUT', 'queues/o-dead', {})
  await server.call('POST', 'queues/o-dead/messages', { body: 1 })
  const received = await server.call('POST', 'queues/o-dead/receive', {})
  const [{ id, receiptHandle }] = (received as { messages: [{ id: string; receiptHandle: string }] }).messages
  await server.call('POST', 'queues/o-dead/nack', { receiptHandle, error: 'no', dead: true })
  const page = await openPage(`${server.url}/#/queues/o-dead/messages/${id}`)
  await page.getByRole('button', { name: 'Retry …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Retry 1 message' }).click()
  await page.getByRole('heading', { name: 'o-dead' }).waitFor()
  expect(await server.call('GET', `queues/o-dead/messages/${id}`)).toMatchObject({ state: 'ready', receiveCount: 0 })
})
