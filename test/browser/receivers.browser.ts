/** Receivers: a message whose holder is gone is released in 4 clicks; the message that blocks a group is named. */
import { openStore } from '../../src/index'
import { startServer } from '../support/processes'
import { openPage, PHONE } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

interface Received {
  messages: { id: string; receiptHandle: string }[]
}

/** Another process receives one message, reports itself, and is killed. */
async function receivedByKilled(queue: string) {
  const other = await startServer({ DATABASE_URL: server.databaseUrl, RECENTN_ALLOW_ANONYMOUS: '1' })
  const response = await fetch(`${other.url}/v1/queues/${queue}/receive`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ visibilityTimeoutSeconds: 3600 }),
  })
  const [message] = ((await response.json()) as Received).messages
  for (;;) {
    const { receivers } = (await server.call('GET', `queues/${queue}/receivers`)) as { receivers: unknown[] }
    if (receivers.length > 0) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await other.stop('SIGKILL')
  return { ...(message as Received['messages'][number]), name: `:${other.process.pid}` }
}

/** The same some minutes later. */
async function pass(ms: number): Promise<void> {
  const store = await openStore({ url: server.databaseUrl, sweep: false, publish: false })
  await store.dataSource.query(`UPDATE recentn_queue_receivers SET seen_at_ms = seen_at_ms - ${ms}`)
  await store.dataSource.query(
    `UPDATE recentn_queue_messages SET last_received_at_ms = last_received_at_ms - ${ms}, sent_at_ms = sent_at_ms - ${ms}`,
  )
  await store.close()
}

test('a message whose receiver is gone is released in 4 clicks, and the old receipt is stale', async () => {
  await server.call('PUT', 'queues/r-mail', {})
  await server.call('POST', 'queues/r-mail/messages', { body: { to: 'ann' } })
  const { id, receiptHandle, name } = await receivedByKilled('r-mail')
  const early = await openPage(`${server.url}/#/queues/r-mail/messages/${id}`)
  await early.getByRole('button', { name: 'Release now' }).click()
  await early.getByRole('dialog').getByText('may still work on it: then it is handled twice').waitFor()
  await pass(15 * 60_000)

  const page = await openPage(server.url)
  await page
    .getByRole('row', { name: /Held r-mail/ })
    .getByRole('link')
    .click()
  const receivers = page.getByRole('region', { name: 'Receivers' })
  await receivers.getByRole('row', { name: new RegExp(`${name} gone .* 0 1$`) }).waitFor()
  await page.getByRole('row', { name: new RegExp(`${id} .*ann.*${name} gone`) }).waitFor()
  await page.getByRole('link', { name: `Message ${id}` }).click()
  await page.getByText(`${name} gone`).waitFor()
  await page.getByRole('button', { name: 'Release now' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/has not been seen for 15 min.* It is handed out again at once\./).waitFor()
  await dialog.getByRole('button', { name: 'Release' }).click()
  await page.getByText('The message is released.').waitFor()
  await page.locator('main .badge', { hasText: 'ready' }).waitFor()

  await expect(server.call('POST', 'queues/r-mail/ack', { receiptHandle })).rejects.toThrow('stale_receipt')
  const again = (await server.call('POST', 'queues/r-mail/receive', {})) as Received
  expect(again.messages).toMatchObject([{ id, receiveCount: 2 }])
})

test('a group that blocks is listed with the message that it waits for, and its holder', async () => {
  await server.call('PUT', 'queues/r-groups', { groupConcurrency: 1 })
  const messages = [1, 2, 3].map((body) => ({ body, messageGroup: 'tenant-3' }))
  await server.call('POST', 'queues/r-groups/messages', { messages })
  const { id, name } = await receivedByKilled('r-groups')
  const page = await openPage(`${server.url}/#/queues/r-groups?state=blocked`)
  const groups = page.getByRole('region', { name: 'Blocked groups' })
  await groups
    .getByRole('row', { name: new RegExp(`tenant-3 waits for message ${id} in flight .*${name} .* 2$`) })
    .waitFor()
  await page.setViewportSize(PHONE)
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  await groups.getByRole('link', { name: `message ${id}` }).click()
  await page.getByRole('button', { name: 'Release now' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
})
