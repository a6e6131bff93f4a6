/** The figures and the chart of a queue, from the history that the server keeps. */
import type { Page } from 'playwright-core'
import { becomes, openPage, PHONE } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

const send = (queue: string, body: unknown) => server.call('POST', `queues/${queue}/messages`, { body })

/** How many pixels of a canvas are coloured: neither grey nor see-through. */
function colouredPixels(page: Page): Promise<number> {
  return page.evaluate(() => {
    const canvas = document.querySelector('canvas')
    const context = canvas?.getContext('2d')
    if (!canvas || !context || canvas.width === 0) return 0
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
    let coloured = 0
    for (let i = 0; i < data.length; i += 4) {
      const [red = 0, green = 0, blue = 0, alpha = 0] = data.slice(i, i + 4)
      if (alpha > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) coloured++
    }
    return coloured
  })
}

/** A history such as the server answers, with this many waiting: an hour that has just ended. */
async function withHistory(page: Page, queue: string, waiting: (n: number) => number, lengthOf = () => 240) {
  await page.route(`**/v1/queues/${queue}/history*`, async (route) => {
    const response = await route.fetch()
    const length = lengthOf()
    const end = Math.floor(Date.now() / 15_000) * 15_000
    const none = { sent: 30, acked: 15, failed: 0, inFlight: 0, delayed: 0, blocked: 0, died: 0, oldestAgeSeconds: 1 }
    const points = Array.from({ length }, (_, n) => ({
      ...{ ...none, ready: waiting(n), endsAt: new Date(end - (length - 1 - n) * 15_000).toISOString() },
    }))
    await route.fulfill({ response, json: { stepSeconds: 15, points } })
  })
}

test('the server keeps the history, and a reload loses nothing', async () => {
  await server.call('PUT', 'queues/c-1', {})
  await server.call('POST', 'queues/c-1/messages', { messages: Array.from({ length: 21 }, (_, n) => ({ body: n })) })
  const page = await openPage(`${server.url}/#/queues/c-1`)
  await page.getByLabel('Figures').getByText('21').first().waitFor()
  const label = () => page.getByRole('img').getAttribute('aria-label', { timeout: 60_000 })
  const text = await label()
  // The server may have counted the queue before it had messages.
  const { points } = (await server.call('GET', 'queues/c-1/history')) as { points: { ready: number | null }[] }
  const least = Math.min(...points.flatMap(({ ready }) => ready ?? []))
  expect(text).toBe(`Chart: between ${least} and 21 waiting. Last: 21 waiting, 0 in flight, 0 dead.`)
  await page.getByText('Sent a minute').waitFor()
  await page.reload()
  expect(await label()).toMatch(/21 waiting/)
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([])
}, 120_000)

test('a chart is drawn, in the colours of either scheme, and says how fast it is', async () => {
  await server.call('PUT', 'queues/c-2', {})
  await send('c-2', 1)
  // This test reads the canvas, not the page.
  const page = await openPage(server.url, { said: /willReadFrequently/ })
  await withHistory(page, 'c-2', (n) => n)
  await page.goto(`${server.url}/#/queues/c-2`)
  const label = () => page.getByRole('img').getAttribute('aria-label')
  await becomes(async () => /between 0 and 239/.test((await label()) ?? ''), true, 10_000)
  await becomes(async () => (await colouredPixels(page)) > 300, true, 10_000)
  await page.emulateMedia({ colorScheme: 'dark' })
  await becomes(async () => (await colouredPixels(page)) > 300, true, 10_000)
  expect(await page.getByLabel('Figures').textContent()).toMatch(/Sent a minute120Done a minute60Failed a minute0/)
  await page.getByRole('button', { name: 'Last week' }).click()
  await page.getByRole('button', { name: 'Last week', pressed: true }).waitFor()
})

test('the chart of a dead-letter queue shows dead messages, as its figures do, and on a phone its numbers stand apart', async () => {
  await server.call('PUT', 'queues/c-letters', {})
  await server.call('PUT', 'queues/c-source', { deadLetterQueue: 'c-letters' })
  const page = await openPage(server.url, { viewport: PHONE })
  await withHistory(page, 'c-letters', (n) => 1000 + n)
  await page.goto(`${server.url}/#/queues/c-letters`)
  await page.getByRole('img', { name: 'Last: 0 waiting, 0 in flight, 1239 dead.' }).waitFor()
  const numbers = page.locator('.u-legend td')
  await numbers.getByText('1,239').waitFor()
  const beyond = await numbers.evaluateAll((cells) =>
    cells.flatMap((cell) => {
      const [right, room] = [cell, cell.parentElement as Element].map((each) => each.getBoundingClientRect().right)
      return (right as number) > (room as number) + 1 ? [cell.textContent] : []
    }),
  )
  expect(beyond).toEqual([])
})

test('a queue says how it grows, and when it will be empty', async () => {
  for (const queue of ['g-up', 'g-down']) {
    await server.call('PUT', `queues/${queue}`, {})
    await server.call('POST', `queues/${queue}/messages`, { messages: Array.from({ length: 24 }, () => ({ body: 1 })) })
  }
  const page = await openPage(server.url)
  for (const [queue, growthPerMinute] of [
    ['g-up', 150],
    ['g-down', -2],
  ] as const) {
    await page.route(`**/v1/queues/${queue}`, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), growthPerMinute } })
    })
  }
  await page.goto(`${server.url}/#/queues/g-up`)
  await page.getByText('+150 a minute').waitFor()
  await page.goto(`${server.url}/#/queues/g-down`)
  await page.getByText('empty in 12 min').waitFor()
})

test('the axis has whole numbers, of millions too', async () => {
  await server.call('PUT', 'queues/c-big', {})
  await send('c-big', 1)
  const page = await openPage(server.url)
  await withHistory(page, 'c-big', () => 12_345_678)
  await page.goto(`${server.url}/#/queues/c-big`)
  await page.locator('.u-over').waitFor()
  // "12,000,000" is wider than 60 pixels.
  const axis = () => page.evaluate(() => document.querySelector<HTMLElement>('.u-over')?.offsetLeft ?? 0)
  await becomes(async () => (await axis()) > 80, true, 10_000)
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
})

test('the numbers below the chart are the last ones, of a history that has grown too', async () => {
  await server.call('PUT', 'queues/c-grows', {})
  const page = await openPage(server.url)
  const numbers = page.locator('.u-legend td')
  for (const length of [10, 12]) {
    await withHistory(
      page,
      'c-grows',
      (n) => 500 + n,
      () => length,
    )
    await page.goto(`${server.url}/#/queues/c-grows`)
    await numbers.getByText(String(500 + length - 1)).waitFor()
    await page.goto(`${server.url}/#/groups`)
    await page.getByRole('heading', { name: 'Groups' }).waitFor()
  }
})

test('a library that comes late draws the newest history', async () => {
  await server.call('PUT', 'queues/c-late', {})
  const page = await openPage(server.url)
  let asked = 0
  await withHistory(
    page,
    'c-late',
    (n) => 500 + n,
    () => (asked++ === 0 ? 10 : 12),
  )
  await page.route('**/chart.js', async (route) => {
    await page.getByRole('img', { name: 'Last: 511 waiting' }).waitFor()
    // No further answer draws it again.
    await page.route('**/history*', () => {})
    await route.continue()
  })
  await page.goto(`${server.url}/#/queues/c-late`)
  await page.locator('.u-legend td').getByText('511').waitFor()
})
