/** Groups in a browser: found by their beginning, their items as they come, their settings changed. */
import { startServer } from '../support/processes'
import { becomes, onceDrawn, openPage, PHONE, shiftOf } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

const pageOf = (hash: string, expected: number[] = []) => openPage(`${server.url}/${hash}`, { expected })
const append = (group: string, item: unknown) =>
  server.call('POST', `groups/${encodeURIComponent(group)}/items`, item) as Promise<{ id: string }>
const liveGroup = async (group: string, expected: number[] = []) => {
  const page = await pageOf(`#/groups/${encodeURIComponent(group)}`, expected)
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  return page
}

describe('one group', () => {
  test('shows what another client appends, newest first', async () => {
    await append('live:1', { member: 'before' })
    const page = await liveGroup('live:1')
    for (const member of ['ana', 'björn', 'chidi']) {
      await append('live:1', { member, payload: { from: 'elsewhere' } })
      await page.getByRole('link', { name: member }).waitFor({ timeout: 5000 })
    }
    expect(await page.locator('tbody .who').allTextContents()).toEqual(['chidi', 'björn', 'ana', 'before'])
    await page.getByText('Appended in all4').waitFor()
    await page.locator('[aria-live=polite]').filter({ hasText: 'new item' }).waitFor({ state: 'attached' })
  })

  test('has its items below its settings from the first moment, also where the settings come late', async () => {
    for (let n = 0; n < 5; n++) await append('live:late', { member: `m${n}` })
    const page = await openPage(`${server.url}/#/groups`, { viewport: PHONE })
    await page.getByRole('row', { name: /live:late/ }).waitFor()
    await page.route('**/v1/groups/live%3Alate', (route) => setTimeout(() => route.continue(), 1500))
    const before = await shiftOf(page)
    await page.evaluate(() => location.assign('#/groups/live%3Alate'))
    await page.getByText('Appended in all5').waitFor()
    await page.getByRole('link', { name: 'm4' }).waitFor()
    expect((await shiftOf(page)) - before).toBeLessThan(0.05)
  })

  test('drops what is pushed out, removed or cleared', async () => {
    await server.call('PUT', 'groups/live%3A2', { capacity: 3 })
    const page = await liveGroup('live:2')
    await page.getByText('No items.').waitFor()
    for (const member of ['a', 'b', 'c', 'd']) await append('live:2', { member })
    await expectRows(page, ['d', 'c', 'b'])
    await server.call('DELETE', 'groups/live%3A2/items/2')
    await expectRows(page, ['d', 'b'])
    await server.call('DELETE', 'groups/live%3A2/items')
    await page.getByText('No items.').waitFor()
  })

  test.each([
    { mode: 'distinct', rows: ['d', 'b', 'c'], title: 'Last items' },
    { mode: 'top', rows: ['c', 'b', 'd'], title: 'Highest scores' },
  ])('shows what a group of mode $mode keeps', async ({ mode, rows, title }) => {
    const group = `live:${mode}`
    await server.call('PUT', `groups/${encodeURIComponent(group)}`, { capacity: 3, mode })
    const page = await liveGroup(group)
    for (const word of ['a3', 'b1', 'c9', 'b5', 'd4']) await append(group, { member: word[0], score: Number(word[1]) })
    await expectRows(page, rows)
    await page.getByRole('heading', { name: title }).waitFor()
  })

  test('does not change while it is paused, and has everything afterwards', async () => {
    // The group is not there yet: it is waited for.
    const page = await liveGroup('live:4', [404])
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('status').filter({ hasText: 'Paused' }).waitFor()
    await append('live:4', { member: 'meanwhile' })
    await page.waitForTimeout(1500)
    expect(await page.getByText('meanwhile').count()).toBe(0)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('link', { name: 'meanwhile' }).waitFor()
  })

  test('comes back after the server was away, with the items that came and went until then', async () => {
    const first = await startServer({ DATABASE_URL: server.databaseUrl })
    await append('live:5', { member: 'stays' })
    const { id } = await append('live:5', { member: 'goes' })
    const page = await openPage(`${first.url}/#/groups/live%3A5`, { expected: [0] })
    await expectRows(page, ['goes', 'stays'])
    await first.stop()
    await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor()
    await server.call('DELETE', `groups/live%3A5/items/${id}`)
    await append('live:5', { member: 'came' })
    const second = await startServer({ DATABASE_URL: server.databaseUrl, PORT: new URL(first.url).port })
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor({ timeout: 30_000 })
    await expectRows(page, ['came', 'stays'])
    await second.stop()
  })

  test('shows a payload as it was stored, numbers beyond a double included', async () => {
    const body = '{"payload":{"from":"search","big":12345678901234567890,"exact":1.10,"list":[1,{"x":null}]}}'
    const headers = { 'Content-Type': 'application/json' }
    await fetch(`${server.url}/v1/groups/live:6/items`, { method: 'POST', headers, body })
    const page = await liveGroup('live:6')
    await page.locator('summary').click()
    expect(await page.locator('tbody pre').textContent()).toBe(
      '{\n  "from": "search",\n  "big": 12345678901234567890,\n  "exact": 1.10,\n  "list": [\n    1,\n    {\n      "x": null\n    }\n  ]\n}',
    )
  })

  test('shows older items when it is asked to', async () => {
    await server.call('PUT', 'groups/live%3A7', { capacity: 200 })
    const items = Array.from({ length: 120 }, (_, i) => ({ group: 'live:7', member: `m${i}` }))
    await server.call('POST', 'items', { items })
    const page = await liveGroup('live:7')
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 50)
    await page.getByRole('button', { name: 'Show older items' }).click()
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 120)
    await append('live:7', { member: 'newest' })
    // The page is scrolled: it is being read.
    await page.getByRole('button', { name: '1 new' }).click()
    await page.getByRole('link', { name: 'newest', exact: true }).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(121)
  })

  test('stays as it is under a reader, from when it is drawn: new rows wait, and an open item that leaves the group stays', async () => {
    await server.call('PUT', 'groups/live%3A8', { capacity: 3 })
    for (const member of ['a', 'b', 'c']) await append('live:8', { member, payload: { of: member } })
    const page = await pageOf('#/groups')
    const open = (item: Element) => item.setAttribute('open', '')
    const opened = await onceDrawn(page, 'main tr:nth-child(2) details', open)
    await page.goto(`${server.url}/#/groups/live%3A8`)
    await opened()
    for (const member of ['d', 'e', 'f']) await append('live:8', { member })
    await page.getByRole('button', { name: '3 new' }).waitFor()
    await page.getByText('3 items below left the group.').waitFor()
    await expectRows(page, ['c', 'b', 'a'])
    expect(await page.locator('tbody pre').textContent()).toBe('{\n  "of": "b"\n}')
    await page.getByRole('button', { name: '3 new' }).click()
    await expectRows(page, ['f', 'e', 'd'])
    expect(await page.getByRole('button', { name: 'new' }).count()).toBe(0)
  })

  test('leads to what a member did everywhere', async () => {
    for (const group of ['m:1', 'm:2']) await append(group, { member: 'käthe & co/7' })
    const page = await liveGroup('m:1')
    await page.getByRole('link', { name: 'käthe & co/7' }).click()
    await page.getByRole('heading', { name: 'käthe & co/7' }).waitFor()
    await expectRows(page, ['m:2', 'm:1'])
  })
})

describe('settings', () => {
  test('are changed after a question; what is left to the policy follows it', async () => {
    await server.call('PUT', 'policies/set%3A', { capacity: 7, mode: 'history', ttlSeconds: 3600 })
    await server.call('PUT', 'groups/set%3A1', { capacity: 3, ttlSeconds: null })
    const page = await liveGroup('set:1')
    await page.getByRole('button', { name: 'Change settings' }).click()
    await page.getByLabel('Capacity').fill('12')
    await page.getByLabel('Mode').selectOption('distinct')
    await page.getByRole('checkbox', { name: 'as the policy says' }).nth(1).check()
    await page.getByRole('button', { name: 'Save …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('capacity 12, mode distinct, expiry left to the policy').waitFor()
    await dialog.getByRole('button', { name: 'Back' }).click()
    expect(await server.call('GET', 'groups/set%3A1')).toMatchObject({ capacity: 3 })
    await page.getByRole('button', { name: 'Save …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings are saved.').waitFor()
    expect(await server.call('GET', 'groups/set%3A1')).toMatchObject({
      capacity: 12,
      mode: 'distinct',
      ttlSeconds: 3600,
    })
    await page.getByText('Capacity12').waitFor()
  })

  test('that were left to the policy stay so when another one is saved', async () => {
    await server.call('PUT', 'policies/pol%3A', { capacity: 5, mode: 'distinct', ttlSeconds: 1000 })
    await append('pol:1', { member: 'a' })
    const page = await liveGroup('pol:1')
    await page.getByText('Expiry16 min 40 s').waitFor()
    // However late the page has what was saved, a form that is opened then has it.
    await page.route('**/v1/groups/pol%3A1', (route) => setTimeout(() => route.continue(), 500))
    await page.getByRole('button', { name: 'Change settings' }).click()
    const follows = page.getByRole('checkbox', { name: 'as the policy says' })
    expect([await follows.first().isChecked(), await follows.nth(1).isChecked()]).toEqual([true, true])
    expect(await page.getByLabel('Mode').locator('option:checked').textContent()).toBe('as the policy says')
    expect(await page.getByLabel('Expiry in seconds').inputValue()).toBe('1000')
    expect(await page.getByLabel('Expiry in seconds').isDisabled()).toBe(true)
    await follows.first().uncheck()
    await page.getByLabel('Capacity').fill('7')
    await page.getByRole('button', { name: 'Save …' }).click()
    await page.getByRole('dialog').getByText('capacity 7, mode left to the policy, expiry left to the policy').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings are saved.').waitFor()
    expect(await server.call('GET', 'groups/pol%3A1')).toMatchObject({ capacity: 7, own: { capacity: 7 } })
    await server.call('PUT', 'policies/pol%3A', { capacity: 6, mode: 'history', ttlSeconds: 2000 })
    expect(await server.call('GET', 'groups/pol%3A1')).toMatchObject({ capacity: 7, mode: 'history', ttlSeconds: 2000 })

    await page.getByRole('button', { name: 'Change settings' }).click()
    expect([await follows.first().isChecked(), await follows.nth(1).isChecked()]).toEqual([false, true])
    await follows.nth(1).uncheck()
    await page.getByLabel('Expiry in seconds').fill('90061')
    await follows.first().check()
    await page.getByRole('button', { name: 'Save …' }).click()
    await page.getByText('capacity left to the policy, mode left to the policy, expiry 1 d 1 h 1 min 1 s').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Expiry1 d 1 h 1 min 1 s').waitFor()
    const changed = (await server.call('GET', 'groups/pol%3A1')) as { own: object }
    expect(changed.own).toEqual({ ttlSeconds: 90_061 })
  })

  test('that an own expiry of never is one of stays so', async () => {
    await server.call('PUT', 'policies/nev%3A', { capacity: 5, mode: 'history', ttlSeconds: 1000 })
    await server.call('PUT', 'groups/nev%3A1', { ttlSeconds: null })
    const page = await liveGroup('nev:1')
    await page.getByRole('button', { name: 'Change settings' }).click()
    expect(await page.getByRole('checkbox', { name: 'as the policy says' }).nth(1).isChecked()).toBe(false)
    await page.getByRole('button', { name: 'Save …' }).click()
    await page.getByText('capacity left to the policy, mode left to the policy, expiry never').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings are saved.').waitFor()
    expect(((await server.call('GET', 'groups/nev%3A1')) as { own: object }).own).toEqual({ ttlSeconds: null })
  })

  test('lead to the policy, the longest whose prefix the name has', async () => {
    await server.call('PUT', 'policies/lead%3A', { capacity: 5, mode: 'history' })
    await server.call('PUT', 'policies/lead%3Along%3A', { capacity: 6, mode: 'history' })
    await append('lead:long:1', {})
    const page = await liveGroup('lead:long:1')
    await page.getByRole('button', { name: 'Change settings' }).click()
    await page.getByRole('link', { name: 'lead:long:' }).click()
    await page.getByRole('heading', { name: 'lead:long:' }).waitFor()
    await page.getByText('Capacity6').waitFor()
  })

  test('that are not valid are not sent', async () => {
    await server.call('PUT', 'groups/set%3A2', { capacity: 3 })
    const page = await liveGroup('set:2')
    await page.getByRole('button', { name: 'Change settings' }).click()
    await page.getByLabel('Capacity').fill('20000')
    await page.getByRole('button', { name: 'Save …' }).click()
    expect(await page.getByRole('button', { name: 'Back' }).count()).toBe(0)
    expect(await page.getByLabel('Capacity').evaluate((input: HTMLInputElement) => input.validity.rangeOverflow)).toBe(
      true,
    )
  })
})

test('a member is opened by the whole name, as it is', async () => {
  const name = ' user-7 / <b>é</b> '
  await append('who:1', { member: name })
  const page = await pageOf('#/groups')
  await page.getByLabel('Group or member').fill(name)
  await page.getByRole('link', { name: 'Items of the member' }).click()
  await page.getByRole('row', { name: /who:1/ }).waitFor()
  expect(await page.locator('main h1').textContent()).toBe(name)
  await page.goBack()
  await page.getByLabel('Group or member').fill('nobody')
  await page.getByRole('link', { name: 'Items of the member nobody' }).click()
  await page.getByText('This member has no items in any window.').waitFor()
})

describe('the list', () => {
  test('has the newest item of each, and pages of 50', async () => {
    const items = Array.from({ length: 60 }, (_, i) => ({ group: `p:${100 + i}`, member: `u${i}` }))
    await server.call('POST', 'items', { items })
    const page = await pageOf('#/groups?prefix=p%3A')
    await page.getByRole('row', { name: /p:100.*u0/ }).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(50)
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByRole('row', { name: /p:150/ }).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(10)
    await append('p:155', { member: 'latest' })
    await page.getByRole('row', { name: /p:155.*latest/ }).waitFor({ timeout: 5000 })
    await page.goBack()
    await page.getByRole('row', { name: /p:100/ }).waitFor()
  })

  test('is as it was on the way back: its search, its rows at once, and where it was scrolled to', async () => {
    const items = Array.from({ length: 60 }, (_, i) => ({ group: `back:${100 + i}` }))
    // With another one before them, the first page has the last row of the search only when the search is answered.
    await server.call('POST', 'items', { items: [{ group: 'aaa' }, ...items] })
    const page = await pageOf('#/groups')
    await page.getByLabel('Group or member').fill('ACK:1')
    await page.getByRole('row', { name: /back:149/ }).waitFor()
    await page.waitForFunction(() => location.hash.includes('contains'))
    await page.evaluate(() => scrollTo(0, 700))
    // Before its next frame the page hears of it.
    await page.evaluate(() => new Promise(requestAnimationFrame))
    await page.getByRole('link', { name: 'back:120' }).click()
    await page.getByRole('heading', { name: 'back:120' }).waitFor()
    expect(await page.evaluate(() => scrollY)).toBe(0)
    await page.goBack()
    await page.getByRole('row', { name: /back:149/ }).waitFor()
    expect(await page.evaluate(() => scrollY)).toBe(700)
    expect(await page.getByLabel('Group or member').inputValue()).toBe('ACK:1')
    // A new page begins at its top.
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByRole('row', { name: /back:150/ }).waitFor()
    expect(await page.evaluate(() => scrollY)).toBe(0)
  })

  test('is narrowed while one types, by the server', async () => {
    for (const group of ['find:apple', 'find:apricot', 'find:plum']) await append(group, {})
    const page = await pageOf('#/groups')
    await page.getByLabel('Group or member').pressSequentially('IND:AP', { delay: 20 })
    await page.getByRole('row', { name: /find:apricot/ }).waitFor()
    // A user who types slowly has asked for less before.
    await becomes(() => new URL(page.url()).hash, '#/groups?contains=IND%3AAP')
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2)
    await page.getByLabel('Group or member').fill('find:x')
    await page.getByText('No group has this in its name.').waitFor()
  })
})

async function expectRows(page: Awaited<ReturnType<typeof pageOf>>, names: string[]): Promise<void> {
  await page.waitForFunction(
    (wanted) => JSON.stringify([...document.querySelectorAll('tbody .who')].map((each) => each.textContent)) === wanted,
    JSON.stringify(names),
  )
}
