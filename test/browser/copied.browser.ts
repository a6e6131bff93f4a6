/** Numbers that are selected and copied are what a request takes: digits, and nothing between them. */
import type { Page } from 'playwright-core'
import { openPage } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
  const many = Array.from({ length: 1000 }, () => ({ group: 'g', member: 'm' }))
  for (let n = 0; n < 2; n++) await server.call('POST', 'items', { items: many })
  await server.call('PUT', 'queues/q', { maxReceives: 12_345 })
  await server.call('POST', 'queues/q/messages', { messages: many.map(() => ({ body: 1 })) })
  await server.call('POST', 'queues/q/messages', { messages: many.map(() => ({ body: 1 })) })
  const entries = (from: number) => Array.from({ length: 1000 }, (_, n) => ({ key: `${from + n}`, value: 1 }))
  for (const from of [0, 1000]) await server.call('POST', 'feeds/f/entries', { entries: entries(from) })
  for (;;) {
    const { lastSyncId } = (await server.call('GET', 'feeds/f')) as { lastSyncId: string }
    if (lastSyncId === '2000') break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await server.call('PUT', 'feeds/f/consumers/c', { cursor: '1234' })
})

/** The text of a copy of all that the element shows. */
const copied = (page: Page, selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const selection = getSelection()
      selection?.selectAllChildren(element)
      return selection?.toString().trim()
    })

test.each([
  ['#/groups', 'tbody .number', '2000'],
  ['#/groups/g', 'tbody .number', '1999'],
  ['#/members/m', 'tbody .number', '1999'],
  ['#/queues', 'tbody .number', '2000'],
  ['#/queues/q', '.tabs b', '2000'],
  ['#/feeds', 'tbody .number', '2000'],
  ['#/feeds/f', 'tbody .number', '1234'],
] as const)('%s', async (hash, selector, text) => {
  const page = await openPage(`${server.url}/${hash}`)
  await page.locator(selector).first().waitFor()
  expect(await copied(page, selector)).toBe(text)
  // Nor anywhere else on the page.
  expect(await page.evaluate(() => document.body.textContent?.match(/\d[^\S\n]\d\d\d(?!\d)/g))).toBeNull()
})
