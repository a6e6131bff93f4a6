/** Pages of other local servers, in Chromium: they change and read nothing of a server without keys. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type Server, startWithFile } from './support/server'

const PURGE = '/v1/queues/q/purge'

let server: Server
let other: http.Server
let browser: Browser
let page: Page
beforeAll(async () => {
  server = await startWithFile()
  other = http.createServer((request, response) => {
    const [, type = ''] = request.url?.split('?') ?? []
    const policy = type.endsWith('no-referrer') ? '<meta name="referrer" content="no-referrer">' : ''
    const enctype = type.startsWith('text') ? 'text/plain' : 'application/x-www-form-urlencoded'
    response.setHeader('Content-Type', 'text/html')
    response.end(
      `<!doctype html>${policy}<form method="post" enctype="${enctype}" action="${server.url}${PURGE}"><button>go</button></form>` +
        `<a href="${server.url}/">link</a>`,
    )
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const args = ['--no-sandbox', '--disable-gpu']
  browser = await chromium.launch({ executablePath: process.env.RECENTN_CHROMIUM ?? '/usr/bin/chromium', args })
})
afterAll(async () => {
  await browser.close()
  other.close()
})
beforeEach(async () => {
  await server.call('PUT', 'queues/q')
  await server.call('POST', 'queues/q/messages', { body: 1 })
  page = await browser.newPage()
})
afterEach(async () => {
  await page.close()
  const { messages } = (await server.call('GET', 'queues/q/messages')) as { messages: unknown[] }
  expect(messages).not.toEqual([])
  await server.call('POST', 'queues/q/purge')
})

/** The same machine by the same name, and by another one. */
const hosts = ['127.0.0.1', 'localhost']
const addressOf = (host: string, form: string) => `http://${host}:${(other.address() as AddressInfo).port}/?${form}`

describe.each(hosts)('a page at %s', (host) => {
  test.each(['urlencoded', 'text', 'urlencoded-no-referrer'])('purges nothing by a form: %s', async (form) => {
    await page.goto(addressOf(host, form))
    const answer = page.waitForResponse((response) => response.url().endsWith(PURGE))
    await page.click('button')
    expect((await answer).status()).toBe(403)
  })

  test('changes nothing by fetch, which needs no preflight', async () => {
    await page.goto(addressOf(host, 'urlencoded'))
    // The page can see nothing of the answer, not even that it was a refusal.
    const told = (url: string) =>
      fetch(url, { method: 'POST', mode: 'no-cors' }).then(
        () => 'answered',
        () => 'nothing',
      )
    expect(await page.evaluate(told, server.url + PURGE)).toBe('nothing')
  })

  test('has links to the dashboard', async () => {
    await page.goto(addressOf(host, 'urlencoded'))
    await page.click('a')
    await page.waitForURL(`${server.url}/**`)
    expect(await page.title()).toMatch(/recentn/i)
  })
})

test('its own page purges', async () => {
  await page.goto(`${server.url}/docs`)
  const status = await page.evaluate((path) => fetch(path, { method: 'POST' }).then((answer) => answer.status), PURGE)
  expect(status).toBe(200)
  await server.call('POST', 'queues/q/messages', { body: 1 })
})
