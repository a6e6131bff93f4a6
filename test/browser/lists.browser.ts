/** Lists in a browser: queues by their state and sorted by a number, dead-letter queues folded, and the way back. */
import { becomes, openPage, picture } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
  const { call } = server
  await call('PUT', 'queues/mail-dead', {})
  await call('PUT', 'queues/mail', { maxReceives: 1, deadLetterQueue: 'mail-dead' })
  for (let i = 100; i < 170; i++) await call('PUT', `queues/q${i}`, {})
  await call('POST', 'queues/q150/messages', { messages: Array.from({ length: 7 }, () => ({ body: 1 })) })
  await call('POST', 'queues/q120/messages', { messages: Array.from({ length: 12 }, () => ({ body: 1 })) })
  await call('POST', 'queues/q130/pause')
  for (let i = 0; i < 3; i++) await call('POST', 'queues/mail/messages', { body: i })
  const received = (await call('POST', 'queues/mail/receive', { limit: 3 })) as {
    messages: { receiptHandle: string }[]
  }
  const receiptHandles = received.messages.map(({ receiptHandle }) => receiptHandle)
  await call('POST', 'queues/mail/nack', { receiptHandles, error: 'no', dead: true })
})

const rowsOf = (page: Awaited<ReturnType<typeof openPage>>) => page.locator('tbody th').allTextContents()

test('queues are chosen by their state, with how many are in each, in one click', async () => {
  const page = await openPage(`${server.url}/#/queues`)
  const chips = page.getByRole('navigation', { name: 'Queues by state' })
  await chips.getByText('All 71').waitFor()
  expect(await chips.textContent()).toMatch(/All 71Dead 1Growing 0Stuck 0Blocked 0Paused 1/)
  await chips.getByRole('link', { name: 'Paused' }).click()
  // The list that was there stays until the new one comes.
  await becomes(async () => (await rowsOf(page)).map((text) => text.trim()), ['q130 paused'])
  await chips.getByRole('link', { name: 'Dead' }).click()
  await page.getByRole('row', { name: /mail/ }).waitFor()
  expect(await rowsOf(page)).toHaveLength(1)
  await picture(page, 'queues-dead')
  await page.getByRole('link', { name: '3 in mail-dead' }).click()
  await page.getByRole('heading', { name: 'mail-dead' }).waitFor()
  await page.goBack()
  await page.getByRole('row', { name: /mail/ }).waitFor()
  expect(await chips.locator('[aria-current]').textContent()).toContain('Dead')
  await chips.getByRole('link', { name: 'Stuck' }).click()
  await page.getByText('No queue is in this state.').waitFor()
})

test('queues are sorted by a number, over all pages, by a click on its heading', async () => {
  const page = await openPage(`${server.url}/#/queues`)
  await page.getByRole('row', { name: /q100/ }).waitFor()
  await page.getByRole('columnheader').getByRole('link', { name: 'Ready' }).click()
  await page.locator('th[aria-sort=descending]').getByText('Ready').waitFor()
  await page.locator('tbody tr').first().getByText('q120').waitFor()
  expect((await rowsOf(page)).slice(0, 3).map((text) => text.trim())).toEqual(['q120', 'q150', 'mail'])
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByRole('link', { name: 'First page' }).waitFor()
  await page.locator('tbody tr').first().getByText('q148').waitFor()
  expect(await rowsOf(page)).toHaveLength(21)
  await page.getByRole('columnheader').getByRole('link', { name: 'Ready' }).click()
  await page.locator('th[aria-sort]').waitFor({ state: 'detached' })
  await page.locator('tbody tr').nth(1).getByText('q100').waitFor()
})

test('a dead-letter queue is folded into its source, and found by any part of its name', async () => {
  const page = await openPage(`${server.url}/#/queues?state=dead`)
  await page.getByRole('row', { name: /mail/ }).waitFor()
  await page.goto(`${server.url}/#/queues`)
  await page.getByRole('row', { name: /q100/ }).waitFor()
  expect(await page.getByText('mail-dead').count()).toBe(0)
  await page.getByRole('searchbox').fill('L-DEA')
  await page.getByRole('row', { name: /mail-dead dead-letter queue/ }).waitFor()
  expect(await rowsOf(page)).toHaveLength(1)
})

test('the next page begins at its top, and the way back leads to where one was', async () => {
  const page = await openPage(`${server.url}/#/queues`)
  await page.getByRole('row', { name: /q140/ }).waitFor()
  const scrolled = () => page.evaluate(() => scrollY)
  await page.getByRole('link', { name: 'Next page' }).scrollIntoViewIfNeeded()
  const before = await scrolled()
  expect(before).toBeGreaterThan(200)
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByRole('row', { name: /q160/ }).waitFor()
  expect(await scrolled()).toBe(0)
  await page.goBack()
  await page.getByRole('row', { name: /q140/ }).waitFor()
  expect(await scrolled()).toBe(before)
  await page.getByRole('searchbox').fill('q14')
  await page.getByRole('row', { name: /q139/ }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'q140' }).click()
  await page.getByRole('heading', { name: 'q140' }).waitFor()
  await page.goBack()
  await page.getByRole('row', { name: /q149/ }).waitFor()
  expect(await page.getByRole('searchbox').inputValue()).toBe('q14')
})
