/** Several windows of live groups in one browser: those of one group share a stream, and any number of groups is live. */
import type { Page, Request } from 'playwright-core'
import { becomes, openPage } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

/** Opens them one after the other, and watches what they request. */
async function openWindows(groups: readonly string[], prepare?: (page: Page, at: number) => Promise<unknown>) {
  await server.call('POST', 'items', { items: groups.map((group) => ({ group, member: 'first' })) })
  const context = (await openPage(`${server.url}/#/queues`, { expected: [401] })).context()
  let requests: Request[] = []
  context.on('request', (request) => requests.push(request))
  const pages: Page[] = []
  for (const [at, group] of groups.entries()) {
    const page = await context.newPage()
    pages.push(page)
    await prepare?.(page, at)
    await page.goto(`${server.url}/#/groups/${group}`, { timeout: 10_000 })
  }
  const live = (page: Page) => page.getByRole('status').filter({ hasText: 'Live' }).waitFor({ timeout: 10_000 })
  await Promise.all(pages.map(live))
  // A live page may not have its stream yet, and reads once more when it has it. Then it shows what comes now.
  await append([...new Set(groups)], 'streamed')
  await shows(pages, 'streamed', 30_000)
  const pagesOf = (pattern: RegExp) =>
    requests.filter((each) => pattern.test(each.url())).map((each) => each.frame().page())
  const forget = () => {
    requests = []
  }
  return { pages, forget, streams: () => pagesOf(/\/stream\?/), reads: () => pagesOf(/\/groups\/[^/]+\/items/) }
}

const append = (groups: readonly string[], member: string, payload?: unknown) =>
  server.call('POST', 'items', { items: groups.map((group) => ({ group, member, payload })) })
const shows = (pages: readonly Page[], member: string, timeout = 5000) =>
  Promise.all(pages.map((page) => page.getByRole('link', { name: member, exact: true }).waitFor({ timeout })))

const without = (pages: readonly Page[], others: readonly Page[]) => pages.filter((page) => !others.includes(page))
const eight = (group: string) => Array.from({ length: 8 }, () => group)

describe('of one group', () => {
  test('read one stream, and show what one of them reads, digit by digit', async () => {
    await server.call('PUT', 'groups/one', { capacity: 20, mode: 'history' })
    const { pages, streams, reads, forget } = await openWindows(eight('one'))
    expect(streams()).toHaveLength(1)
    forget()
    const item = '{"items":[{"group":"one","member":"second","payload":[12345678901234567890,1.10]}]}'
    await fetch(`${server.url}/v1/items`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: item,
    })
    await shows(pages, 'second')
    for (const page of pages) {
      await page.locator('summary').first().click()
      expect(await page.locator('tbody pre').first().textContent()).toContain('12345678901234567890,\n  1.10')
    }
    await server.call('DELETE', 'groups/one/items/0')
    for (const page of pages) await page.getByText('1 item below left the group.').waitFor({ timeout: 5000 })
    expect([streams(), reads()]).toEqual([[], []])
  })

  test('have another reader when it is closed or hidden, and miss nothing', async () => {
    await server.call('PUT', 'groups/pass', { capacity: 50, mode: 'history' })
    const opened = await openWindows(eight('pass'))
    let { pages } = opened
    expect(opened.streams()).toHaveLength(1)
    const setHidden = (page: Page, isHidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
        document.dispatchEvent(new Event('visibilitychange'))
      }, isHidden)
    const leave = [(page: Page) => page.close(), (page: Page) => setHidden(page, true)]
    for (const [at, go] of leave.entries()) {
      const [reader] = opened.streams()
      opened.forget()
      const members = Array.from({ length: 30 }, (_, n) => `m${at}-${n}`)
      const appending = (async () => {
        for (const member of members.slice(0, -1)) await append(['pass'], member)
      })()
      await go(reader as Page)
      pages = without(pages, [reader as Page])
      await appending
      // However long it took to leave, this one comes afterwards.
      await append(['pass'], members.at(-1) as string)
      for (const member of members) await shows(pages, member)
      await becomes(() => opened.streams().length, 1)
      expect(pages).toContain(opened.streams()[0])
    }
    const [hidden] = without(opened.pages, pages).filter((page) => !page.isClosed())
    expect(await hidden?.getByText('m1-29', { exact: true }).count()).toBe(0)
    await setHidden(hidden as Page, false)
    await shows([hidden as Page], 'm1-29')
  })
})

test.each(['with', 'without'])('of eight groups are all live, %s locks', async (locks) => {
  const names = Array.from({ length: 8 }, (_, n) => `${locks}:${n}`)
  const { pages, streams, forget } = await openWindows(names, async (page) => {
    // As over plain HTTP from another host.
    if (locks === 'without')
      await page.addInitScript(() => Object.defineProperty(navigator, 'locks', { value: undefined }))
  })
  await append(names, 'second')
  await shows(pages, 'second')
  expect(streams()).toHaveLength(locks === 'with' ? 3 : 0)
  if (locks === 'without') return

  // A window that is closed leaves its place to another.
  const places = streams()
  forget()
  for (const page of places) await page.close()
  await becomes(() => new Set(streams()).size, 3)
  await append(names, 'third')
  await shows(without(pages, places), 'third')
})

test('with different keys share nothing, and no name has a key in it', async () => {
  await append(['keyed'], 'before')
  const { key: admin } = await server.createKey({ scopes: ['admin'] })
  const { key: reader } = await server.createKey({ scopes: ['read'], prefix: 'keyed' })
  while ((await fetch(`${server.url}/v1/groups`)).status !== 401)
    await new Promise((resolve) => setTimeout(resolve, 100))
  const keys = [admin, admin, reader]
  const useKey = (page: Page, key: string) =>
    page.addInitScript((text) => sessionStorage.setItem('recentn.key', text), key)
  const { pages, streams } = await openWindows(
    keys.map(() => 'keyed'),
    (page, at) => useKey(page, keys[at] as string),
  )
  expect(streams()).toHaveLength(2)
  const [first] = pages as [Page]
  const wrong = await first.context().newPage()
  await useKey(wrong, `${reader.slice(0, -1)}${reader.endsWith('a') ? 'b' : 'a'}`)
  await wrong.goto(`${server.url}/#/groups/keyed`)
  await wrong.getByText(/does not take/).waitFor()
  await append(['keyed'], 'after')
  await shows(pages, 'after')
  expect(await wrong.getByText('after', { exact: true }).count()).toBe(0)
  const names = await first.evaluate(async () => JSON.stringify(await navigator.locks.query()))
  expect(names).toContain('keyed')
  for (const key of keys) expect(names).not.toContain(key.split('_').slice(2).join('_'))
})
