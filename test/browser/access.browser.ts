/** The dashboard of a server with API keys: the form for one, wrong ones, and keys that may do little. */
import type { Page } from 'playwright-core'
import { openPage, picture } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
let admin: string
beforeAll(async () => {
  server = await startWithFile()
  await server.call('PUT', 'queues/shop%3Amail', { maxReceives: 1 })
  await server.call('PUT', 'queues/other', {})
  const items = ['shop:1', 'shop:2', 'other:1'].map((group) => ({ group, member: `of ${group}` }))
  await server.call('POST', 'items', { items })
  for (const feed of ['shop:users', 'other'])
    await server.call('PUT', `feeds/${encodeURIComponent(feed)}/entries/a`, { value: 1 })
  admin = (await server.createKey({ scopes: ['admin'] })).key
  await untilKeysAreWanted()
})

async function untilKeysAreWanted(): Promise<void> {
  while ((await fetch(`${server.url}/v1/groups`)).status !== 401)
    await new Promise((resolve) => setTimeout(resolve, 100))
}

const pageOf = (hash = '#/groups') => openPage(`${server.url}/${hash}`, { expected: [401, 403] })

async function useKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Use this key' }).click()
}

test('the page needs no key, and asks for one in a sentence', async () => {
  const page = await pageOf()
  await page.getByRole('alert').filter({ hasText: 'This server wants an API key.' }).waitFor()
  expect(await page.getByText('shop:1').count()).toBe(0)
  await useKey(page, admin)
  await page.getByRole('row', { name: /shop:1.*of shop:1/ }).waitFor()
  await page.getByRole('row', { name: /other:1/ }).waitFor()
  expect(await page.evaluate(() => ({ ...localStorage, cookie: document.cookie }))).toEqual({ cookie: '' })
  await page.reload()
  await page.getByRole('row', { name: /shop:1/ }).waitFor()
  await page.getByRole('link', { name: /^rk_/ }).click()
  await page.getByRole('button', { name: 'Forget it' }).click()
  await page.getByText('No key is used.').waitFor()
  await page.getByRole('link', { name: 'Queues' }).click()
  await page.getByText('This server wants an API key.').waitFor()
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('rk_')
})

test('a new tab has the key of another one, until all are closed', async () => {
  const page = await pageOf()
  await useKey(page, admin)
  await page.getByRole('row', { name: /shop:1/ }).waitFor()
  const other = await page.context().newPage()
  await other.goto(`${server.url}/#/queues`)
  await other.getByRole('row', { name: /shop:mail/ }).waitFor()
  // A key that one tab forgets, the other one keeps, and does not give back.
  await other.getByRole('link', { name: /^rk_/ }).click()
  await other.getByRole('button', { name: 'Forget it' }).click()
  await other.getByText('No key is used.').waitFor()
  await page.close()
  const third = await other.context().newPage()
  await third.goto(server.url)
  await third.getByText('This server wants an API key.').waitFor()
})

test('a key is not shown, and goes in the header only', async () => {
  const page = await pageOf()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await useKey(page, admin)
  await page.getByRole('row', { name: /shop:1/ }).waitFor()
  const secret = admin.split('_').slice(2).join('_')
  expect(await page.content()).not.toContain(secret)
  expect(asked.filter((url) => url.includes(secret))).toEqual([])
  expect(page.url()).not.toContain(secret)
})

test('a wrong key is refused, and another one may be tried', async () => {
  const page = await pageOf('#/groups/shop%3A1')
  await useKey(page, 'rk_0123456789abcdef_nothing')
  await page.getByText(/does not take/).waitFor()
  expect(await page.getByLabel('API key').count()).toBe(1)
  await useKey(page, admin)
  await page.getByRole('link', { name: 'of shop:1' }).waitFor()
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
})

test('a key with a prefix sees what begins with it', async () => {
  const { key } = await server.createKey({ scopes: ['read'], prefix: 'shop:' })
  const page = await pageOf()
  await useKey(page, key)
  await page.getByRole('row', { name: /shop:2/ }).waitFor({ timeout: 15_000 })
  expect(await page.locator('tbody tr').count()).toBe(2)
  await page.getByRole('link', { name: 'Queues' }).click()
  await page.getByRole('row', { name: /shop:mail/ }).waitFor()
  expect(await page.locator('tbody tr').count()).toBe(1)
  await page.getByRole('link', { name: 'Feeds' }).click()
  await page.getByRole('row', { name: /shop:users/ }).waitFor()
  expect(await page.locator('tbody tr').count()).toBe(1)
  await page.goto(`${server.url}/#/groups/other%3A1`)
  await page.getByText(/^Not allowed\./).waitFor()
  expect(await page.getByText('of other:1').count()).toBe(0)
})

/** The buttons that change something, and whether each may be pressed. */
async function changingButtons(page: Page): Promise<[string | null, boolean][]> {
  const found = await page
    .getByRole('main')
    // The live view of a group has its own Pause, which changes nothing.
    .locator('section, .actions')
    .getByRole('button', { name: /^(Pause|Resume|Purge …|Remove …|Delete …|Change settings|New policy)$/ })
    .all()
  return Promise.all(
    found.map(
      async (button): Promise<[string | null, boolean]> => [await button.textContent(), await button.isEnabled()],
    ),
  )
}

test('a key may press what its scopes allow, and the page says why not the rest', async () => {
  await server.call('PUT', 'policies/shop%3Aall', { capacity: 10, mode: 'history' })
  await server.call('PUT', 'queues/shop%3Adead', {})
  await server.call('PUT', 'queues/shop%3Asms', { deadLetterQueue: 'shop:dead' })
  const { id } = (await server.call('POST', 'queues/shop%3Amail/messages', { body: 1 })) as { id: string }
  const { key } = await server.createKey({ scopes: ['read', 'queue'] })
  const page = await pageOf('#/groups')
  await useKey(page, key)
  await page.getByRole('row', { name: /shop:1/ }).waitFor()
  const buttons: Record<string, string[]> = {
    'groups/shop%3A1': ['Change settings', 'Delete …'],
    policies: ['New policy'],
    'policies/shop%3Aall': ['Change settings', 'Delete …'],
    'queues/shop%3Adead': ['Pause', 'Purge …', 'Change settings', 'Delete …'],
    [`queues/shop%3Amail/messages/${id}`]: ['Remove …'],
  }
  const look = async (place: string, isEnabled: boolean) => {
    await page.goto(`${server.url}/#/${place}`)
    await page.waitForFunction(
      ([first = '', wanted]) =>
        [...document.querySelectorAll('main button')].some(
          (button) => button.textContent === first && !(button as HTMLButtonElement).disabled === wanted,
        ),
      [buttons[place]?.[0], isEnabled] as const,
    )
    expect([place, await changingButtons(page)]).toEqual([place, buttons[place]?.map((name) => [name, isEnabled])])
  }
  for (const place of Object.keys(buttons)) {
    await look(place, false)
    await page.getByText('This key may only read: changes need the scope admin.').waitFor()
    await picture(page, `look-only-${place.split('/')[0]}`)
  }
  await page.goto(`${server.url}/#/key`)
  await page.getByText('Allowed: read, queue.').waitFor()
  await useKey(page, admin)
  await page.getByText('Everything is allowed.').waitFor()
  for (const place of Object.keys(buttons)) await look(place, true)
  expect(await page.getByText('This key may only read').count()).toBe(0)
})

test('a key with a prefix sees the policies that begin with it', async () => {
  for (const prefix of ['shop:', 'shop:all', 'shop:b:', 'other:'])
    await server.call('PUT', `policies/${encodeURIComponent(prefix)}`, { capacity: 10, mode: 'history' })
  const { key } = await server.createKey({ scopes: ['read'], prefix: 'shop:' })
  const page = await pageOf('#/policies')
  await useKey(page, key)
  await page.getByRole('row', { name: /shop:b:/ }).waitFor()
  expect(await page.locator('tbody tr').count()).toBe(3)
  await page.getByRole('link', { name: 'shop:b:' }).click()
  await page.getByText('Capacity10').waitFor()
  await page.goto(`${server.url}/#/policies/other%3A`)
  await page.getByText(/^Not allowed\./).waitFor()
  expect(await page.getByText('Capacity').count()).toBe(0)
})

test('a key that may not read sees nothing, and a key that is revoked sees nothing more', async () => {
  const appender = await server.createKey({ scopes: ['append'] })
  const reader = await server.createKey({ scopes: ['read'] })
  const page = await pageOf('#/groups/shop%3A1')
  await useKey(page, appender.key)
  await page.getByText(/does not have the scope read/).waitFor()
  await useKey(page, reader.key)
  await page.getByRole('link', { name: 'of shop:1' }).waitFor()
  await server.revokeKey(reader.id)
  await page.getByText(/does not take/).waitFor({ timeout: 15_000 })
  await page.getByRole('link', { name: 'of shop:1' }).waitFor({ state: 'detached' })
})
