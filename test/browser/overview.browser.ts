/** The overview, and dead letters by their errors: found and repaired in as few clicks as an operator has at night. */
import type { Page } from 'playwright-core'
import { openPage, PHONE } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

async function die(queue: string, errors: readonly string[]): Promise<void> {
  for (const error of errors) {
    await server.call('POST', `queues/${queue}/messages`, { body: { of: error } })
    const { messages } = (await server.call('POST', `queues/${queue}/receive`, {})) as {
      messages: { receiptHandle: string }[]
    }
    const receiptHandles = messages.map(({ receiptHandle }) => receiptHandle)
    await server.call('POST', `queues/${queue}/nack`, { receiptHandles, error, dead: true })
  }
}

const dialogOf = (page: Page) => page.getByRole('dialog')
const counts = async (queue: string) =>
  ((await server.call('GET', `queues/${queue}/errors`)) as { errors: { error: string; count: number }[] }).errors.map(
    ({ error, count }) => [error, count],
  )

test('nothing is wrong at first; then lines say what is, without a click, and keep their places until they are read again', async () => {
  const page = await openPage(server.url)
  const names = () => page.locator('tbody th a').allTextContents()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByText('Nothing is wrong.').waitFor()
  await server.call('PUT', 'queues/a-paused', {})
  await server.call('POST', 'queues/a-paused/messages', { body: 1 })
  await server.call('POST', 'queues/a-paused/pause')
  await page.getByRole('row', { name: /Paused a-paused 1 message wait/ }).waitFor()
  await server.call('PUT', 'queues/a-mail', { maxReceives: 1 })
  await die('a-mail', ['no 1', 'no 2'])
  await page.getByRole('row', { name: /Dead a-mail 2 messages died\. 2 / }).waitFor()
  expect(await names()).toEqual(['a-paused', 'a-mail'])
  await page.reload()
  await page.getByRole('row', { name: /Dead a-mail 2 messages died\. 2 / }).waitFor()
  expect(await names()).toEqual(['a-mail', 'a-paused'])
  await server.call('POST', 'queues/a-mail/purge', { dead: true })
  await page.getByRole('row', { name: /Dead a-mail Over: 2 messages died\. 0 / }).waitFor()
  expect(await names()).toEqual(['a-mail', 'a-paused'])
  await page.setViewportSize(PHONE)
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview' }).waitFor()
})

test('why a queue dies is seen and one error retried in 3 clicks; another one is deleted', async () => {
  await server.call('PUT', 'queues/b-dead', {})
  await server.call('PUT', 'queues/b-hooks', { deadLetterQueue: 'b-dead' })
  await server.call('PUT', 'queues/b-other', { deadLetterQueue: 'b-dead' })
  await die('b-hooks', ['503 for order 1', '503 for order 2', '410 gone', 'timeout after 30 s'])
  await die('b-other', ['503 for order 3'])
  const page = await openPage(server.url)
  await page
    .getByRole('row', { name: /Dead b-hooks 4 messages died/ })
    .getByRole('link')
    .click()
  const section = page.getByRole('region', { name: 'Dead letters in b-dead' })
  const row = section.getByRole('row', { name: /503 for order # 2/ })
  await row.getByRole('button', { name: 'Retry' }).click()
  await dialogOf(page).getByText('Retry 2 dead messages?').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Retry 2 messages' }).click()
  await page.getByText('2 messages retried.').waitFor()
  expect(await counts('b-dead')).toEqual(
    expect.arrayContaining([
      ['503 for order #', 1],
      ['410 gone', 1],
    ]),
  )
  const back = (await server.call('GET', 'queues/b-hooks/messages')) as { messages: unknown[] }
  expect(back.messages).toHaveLength(2)

  await section
    .getByRole('row', { name: /410 gone/ })
    .getByRole('button', { name: 'Delete' })
    .click()
  await dialogOf(page).getByRole('button', { name: 'Delete 1 message' }).click()
  await page.getByText('1 message deleted.').waitFor()
  expect((await counts('b-dead')).map(([error]) => error).sort()).toEqual(['503 for order #', 'timeout after # s'])
})

test('ticked messages of an error are retried, and dead ones without a dead-letter queue deleted', async () => {
  await server.call('PUT', 'queues/c-own', {})
  await die('c-own', ['first 1', 'second', 'first 2', 'first 3'])
  const page = await openPage(`${server.url}/#/queues/c-own`)
  await page.getByRole('link', { name: 'first #' }).click()
  await page.getByText('Only those').waitFor()
  await page.getByRole('row', { name: /first 3/ }).waitFor()
  expect(await page.getByRole('row', { name: /second/ }).count()).toBe(1)
  for (const error of ['first 1', 'first 3']) {
    await page
      .getByRole('row', { name: new RegExp(error) })
      .getByRole('checkbox')
      .click()
  }
  await page.getByRole('button', { name: 'Retry 2 ticked' }).click()
  await dialogOf(page).getByRole('button', { name: 'Retry 2 messages' }).click()
  await page.getByText('2 messages retried.').waitFor()
  expect((await counts('c-own')).sort()).toEqual([
    ['first #', 1],
    ['second', 1],
  ])
  await page.getByRole('button', { name: 'Delete all' }).click()
  await dialogOf(page).getByRole('button', { name: 'Delete 2 messages' }).click()
  await page.getByText('2 messages deleted.').waitFor()
  expect(await counts('c-own')).toEqual([])
})

test('long work continues while its page is left, and says how far it is', async () => {
  await server.call('PUT', 'queues/d-long', {})
  for (let n = 0; n < 2; n++) {
    const messages = Array.from({ length: 750 }, (_, body) => ({ body }))
    await server.call('POST', 'queues/d-long/messages', { messages })
    const { messages: received } = (await server.call('POST', 'queues/d-long/receive', { limit: 750 })) as {
      messages: { receiptHandle: string }[]
    }
    const receiptHandles = received.map(({ receiptHandle }) => receiptHandle)
    await server.call('POST', 'queues/d-long/nack', { receiptHandles, dead: true, error: 'no' })
  }
  const page = await openPage(`${server.url}/#/queues/d-long`)
  await page.route('**/d-long/purge', (route) => setTimeout(() => route.continue(), 500))
  await page.getByRole('button', { name: 'Delete all' }).click()
  await dialogOf(page).getByRole('button', { name: 'Delete 1500 messages' }).click()
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.goBack()
  // Style alone sets the groups of digits apart.
  await page.getByText('1500 messages deleted.').locator('.digits').waitFor()
  expect(await counts('d-long')).toEqual([])
  // The page that began it was left before it ended, and asks for nothing more.
  const isLeft = page.waitForRequest(/\/overview/)
  await page.getByRole('link', { name: 'Overview' }).click()
  await isLeft
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.waitForRequest(/\/overview/)
  expect(asked.filter((url) => url.includes('d-long'))).toEqual([])
})

test('a key that may only read sees it all, and can change nothing', async () => {
  await server.call('PUT', 'queues/e-own', {})
  await die('e-own', ['no'])
  const { key } = await server.createKey({ scopes: ['read'] })
  await server.createKey({ scopes: ['admin'] })
  const reading = await openPage(server.url, { expected: [401] })
  await reading.getByLabel('API key').fill(key)
  await reading.getByRole('button', { name: 'Use this key' }).click()
  await reading
    .getByRole('row', { name: /Dead e-own/ })
    .getByRole('link')
    .click()
  await reading.getByText('no', { exact: true }).first().waitFor()
  for (const name of ['Retry all', 'Delete all']) {
    expect(await reading.getByRole('button', { name }).isDisabled()).toBe(true)
  }
})
