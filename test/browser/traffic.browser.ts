/** The pages fetch again and again no payloads that they do not show. */
import type { Page } from 'playwright-core'
import { becomes, openPage } from './support/browser'
import { type Server, startWithFile } from './support/server'

const LARGE = 'x'.repeat(60_000)

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

interface Fetched {
  /** Answers to requests whose URL matches, and the bytes of their bodies. */
  of(pattern: RegExp): { count: number; bytes: number }
  forget(): void
}

async function watched(hash: string): Promise<{ page: Page; fetched: Fetched }> {
  const page = await openPage(`${server.url}/#/key`)
  let answers: { url: string; bytes: number }[] = []
  page.on('response', async (response) => {
    const body = await response.body().catch(() => null)
    if (body !== null) answers.push({ url: response.url(), bytes: body.length })
  })
  await page.goto(`${server.url}/${hash}`)
  const of = (pattern: RegExp) => {
    const found = answers.filter(({ url }) => pattern.test(url))
    return { count: found.length, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) }
  }
  const forget = () => {
    answers = []
  }
  return { page, fetched: { of, forget } }
}

test('the list of groups has the newest item of each without its payload', async () => {
  const items = Array.from({ length: 15 }, (_, n) => ({ group: `g:${100 + n}`, member: `m${n}`, payload: LARGE }))
  await server.call('POST', 'items', { items })
  const { page, fetched } = await watched('#/groups')
  await page.getByRole('row', { name: /g:114.*m14/ }).waitFor()
  await becomes(() => fetched.of(/\/v1\/items/).count >= 3, true)
  expect(fetched.of(/\/v1\//).bytes).toBeLessThan(100_000)
})

test('the list of messages has the beginning of their bodies', async () => {
  await server.call('PUT', 'queues/q', {})
  for (let n = 0; n < 5; n++) await server.call('POST', 'queues/q/messages', { body: { n, text: LARGE.repeat(4) } })
  const { page, fetched } = await watched('#/queues/q')
  await page.getByRole('row', { name: /"n":\s?4.*x…/ }).waitFor()
  await becomes(() => fetched.of(/\/messages/).count >= 3, true)
  expect(fetched.of(/\/v1\//).bytes).toBeLessThan(100_000)
  await page
    .getByRole('link', { name: /^Message/ })
    .first()
    .click()
  const body = page.getByRole('region', { name: 'Body' }).locator('pre')
  await body.waitFor()
  expect((await body.textContent())?.length).toBeGreaterThan(240_000)
})

test("a member's items are fetched once, and a new one waits until it is asked for", async () => {
  const items = Array.from({ length: 10 }, (_, n) => ({ group: `h:${n}`, member: 'ana', payload: { n, text: LARGE } }))
  await server.call('POST', 'items', { items })
  const { page, fetched } = await watched('#/members/ana')
  await page.locator('summary').first().waitFor()
  expect(await page.locator('summary').count()).toBe(10)
  // The test may have the answer later than the page has.
  await becomes(() => fetched.of(/\/members\//).bytes > 600_000, true)
  fetched.forget()
  await becomes(() => fetched.of(/\/members\//).count >= 2, true)
  expect(fetched.of(/\/v1\//).bytes).toBeLessThan(50_000)
  await page.locator('summary').last().click()
  expect((await page.locator('tbody pre').textContent())?.length).toBeGreaterThan(60_000)
  await server.call('POST', 'groups/h%3A1/items', { member: 'ana', payload: ['new'] })
  const button = page.getByRole('button', { name: '1 new' })
  await button.waitFor()
  expect(await page.locator('summary').count()).toBe(10)
  await button.click()
  await page.getByText('"new"').waitFor()
  expect([await page.locator('summary').count(), await button.count()]).toEqual([11, 0])
})
