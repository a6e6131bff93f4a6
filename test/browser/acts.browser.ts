/** The acts of an operator by the buttons of the dashboard, and their clicks: each act is one that REST has too. */
import type { Page } from 'playwright-core'
import { openPage } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

const pageOf = (hash: string, expected: number[] = []) => openPage(`${server.url}/${hash}`, { expected })
const dialogOf = (page: Page) => page.getByRole('dialog')

/** Clicks, and counts them. */
function clicking(page: Page) {
  let clicks = 0
  const press = async (role: 'button' | 'link', name: string | RegExp, within: Pick<Page, 'getByRole'> = page) => {
    clicks++
    await within.getByRole(role, { name, exact: typeof name === 'string' }).click()
  }
  return { press, clicks: () => clicks }
}

describe('queues', () => {
  test('one is made in 3 clicks, with the defaults where nothing else is typed', async () => {
    const page = await pageOf('#/groups')
    const { press, clicks } = clicking(page)
    await press('link', 'Queues')
    await press('button', 'New queue')
    await dialogOf(page).getByLabel('Name').fill('h-made')
    await press('button', 'Create')
    await page.getByRole('heading', { name: 'h-made' }).waitFor()
    expect(clicks()).toBeLessThanOrEqual(4)
    await server.call('PUT', 'queues/h-plain', {})
    const [made, plain] = (await Promise.all(
      ['h-made', 'h-plain'].map((queue) => server.call('GET', `queues/${queue}`)),
    )) as [object, object]
    const same = { queue: '', createdAt: '', tag: '' }
    expect({ ...made, ...same }).toEqual({ ...plain, ...same })
  })

  test('one that exists is not replaced', async () => {
    await server.call('PUT', 'queues/h-there', { maxReceives: 9 })
    const page = await pageOf('#/queues', [409, 412])
    await page.getByRole('button', { name: 'New queue' }).click()
    await dialogOf(page).getByLabel('Name').fill('h-there')
    await page.getByRole('button', { name: 'Create' }).click()
    await dialogOf(page).getByRole('alert').waitFor()
    expect(await server.call('GET', 'queues/h-there')).toMatchObject({ maxReceives: 9 })
  })

  test('settings are changed, and a change of another user is not overwritten', async () => {
    await server.call('PUT', 'queues/h-set', { maxReceives: 3, maxMessages: 50 })
    const page = await pageOf('#/queues/h-set', [412])
    await page.getByRole('button', { name: 'Change settings' }).click()
    const dialog = dialogOf(page)
    await dialog.getByLabel('Lease in seconds').fill('77')
    await dialog.getByLabel('Messages at most').fill('')
    await server.call('PATCH', 'queues/h-set', { maxReceives: 4 })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Receives is 4 now (it was 3). Nothing was saved.').waitFor()
    expect(await server.call('GET', 'queues/h-set')).toMatchObject({ visibilityTimeoutSeconds: 30 })
    // The typed text is still there, and the change of another user is shown.
    expect(await dialog.getByLabel('Lease in seconds').inputValue()).toBe('77')
    expect(await dialog.getByLabel('Receives').inputValue()).toBe('4')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('status').getByText('The settings are saved.').waitFor()
    expect(await server.call('GET', 'queues/h-set')).toMatchObject({
      ...{ visibilityTimeoutSeconds: 77, maxReceives: 4, maxMessages: null },
    })
  })

  test('a test message is sent, with its numbers as they were typed', async () => {
    await server.call('PUT', 'queues/h-send', {})
    const page = await pageOf('#/queues/h-send')
    await page.getByRole('button', { name: 'Send …' }).click()
    const dialog = dialogOf(page)
    await dialog.getByLabel('Body').fill('{ "to": ana }')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await dialog.getByText('Body is not JSON').waitFor()
    await dialog.getByLabel('Body').fill('{ "id": 12345678901234567890 }')
    await dialog.getByLabel('Priority').fill('7')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/^Message \d+ is sent\.$/).waitFor()
    const answer = await fetch(`${server.url}/v1/queues/h-send/messages?state=ready`)
    expect(await answer.text()).toMatch(
      /"priority":7.*"body":\{"id":12345678901234567890\}|"body":\{"id":12345678901234567890\}.*"priority":7/,
    )
  })

  test('one is deleted with its messages once its name is typed, by Enter too', async () => {
    await server.call('PUT', 'queues/h-gone', {})
    await server.call('POST', 'queues/h-gone/messages', { messages: [1, 2, 3].map((body) => ({ body })) })
    const page = await pageOf('#/queues/h-gone', [404])
    await page.getByRole('link', { name: 'Ready 3' }).waitFor()
    await page.getByRole('button', { name: 'Delete …' }).click()
    await dialogOf(page).getByText('all 3 messages').waitFor()
    await dialogOf(page).getByLabel('Type h-gone to confirm').fill('h-gon')
    await page.keyboard.press('Enter')
    expect(await dialogOf(page).isVisible()).toBe(true)
    await page.keyboard.type('e')
    await page.keyboard.press('Enter')
    await page.getByText('The queue is deleted.').waitFor()
    await page.getByRole('heading', { name: 'Queues' }).waitFor()
    await expect(server.call('GET', 'queues/h-gone')).rejects.toThrow('404')
  })

  test('a message that is removed leads back to the list it was in', async () => {
    await server.call('PUT', 'queues/h-dead', { maxReceives: 1 })
    await server.call('POST', 'queues/h-dead/messages', { body: 1 })
    const { messages } = (await server.call('POST', 'queues/h-dead/receive', {})) as {
      messages: { receiptHandle: string }[]
    }
    await server.call('POST', 'queues/h-dead/nack', { receiptHandle: messages[0]?.receiptHandle, dead: true })
    const page = await pageOf('#/queues/h-dead?state=dead', [404])
    await page.getByRole('link', { name: /^Message/ }).click()
    await page.getByRole('button', { name: 'Remove …' }).click()
    await dialogOf(page).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Nothing is dead here.').waitFor()
    expect(new URL(page.url()).hash).toBe('#/queues/h-dead?state=dead')
  })
})

test('a schedule is made in 3 clicks, and changed', async () => {
  await server.call('PUT', 'queues/s-1', {})
  const page = await pageOf('#/queues')
  const { press, clicks } = clicking(page)
  await press('link', 'Schedules')
  await press('button', 'New schedule')
  const dialog = dialogOf(page)
  await dialog.getByLabel('Name').fill('s-nightly')
  await dialog.getByLabel('Queue').fill('s-1')
  await dialog.getByLabel('Pattern').fill('30 2 * * *')
  await dialog.getByLabel('Time zone').fill('Europe/Berlin')
  await press('button', 'Create')
  await page.getByRole('heading', { name: 's-nightly' }).waitFor()
  expect(clicks()).toBeLessThanOrEqual(4)
  await page.getByText('30 2 * * * (Europe/Berlin)').waitFor()
  await page.getByRole('button', { name: 'Change …' }).click()
  await dialog.getByLabel('Pattern').fill('')
  await dialog.getByLabel('Time zone').fill('')
  await dialog.getByLabel('Or every in seconds').fill('90')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('every 1 min 30 s').waitFor()
  expect(await server.call('GET', 'schedules/s-nightly')).toMatchObject({ cron: null, everySeconds: 90, body: {} })
})

describe('groups', () => {
  const append = (group: string, members: string) =>
    server.call('POST', 'items', { items: [...members].map((member) => ({ group, member })) })

  test('the first one is made by the button of the empty page, with what is left to the policy', async () => {
    const page = await pageOf('#/groups?prefix=g-new')
    await page.getByRole('button', { name: 'New group' }).click()
    await dialogOf(page).getByLabel('Name').fill('g-new')
    await dialogOf(page).getByLabel('as the policy says').first().uncheck()
    await dialogOf(page).getByLabel('Capacity').fill('7')
    await dialogOf(page).getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'g-new' }).waitFor()
    expect(await server.call('GET', 'groups/g-new')).toMatchObject({ own: { capacity: 7 } })
  })

  test('a member is erased in 3 clicks, after a count', async () => {
    await server.call('POST', 'items', { items: [1, 2, 3].map((i) => ({ group: `g-e:${i % 2}`, member: 'user-7' })) })
    const page = await pageOf('#/groups')
    const { press, clicks } = clicking(page)
    await page.getByLabel('Group or member').fill('user-7')
    await press('link', /Items of the member user-7/)
    await press('button', 'Erase …')
    await dialogOf(page).getByText('user-7 has 3 items in 2 groups.').waitFor()
    await dialogOf(page).getByLabel('Type user-7 to confirm').fill('user-7')
    await press('button', 'Erase 3 items')
    await page.getByText('3 items erased.').waitFor()
    await page.getByText('This member has no items in any window.').waitFor()
    expect(clicks()).toBeLessThanOrEqual(3)
  })

  test('an item is removed, a group is cleared, and deleted', async () => {
    await append('g-r', 'abc')
    const page = await pageOf('#/groups/g-r', [404])
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
    await page.getByRole('button', { name: 'Remove item 1' }).click()
    await dialogOf(page).getByText('The item of b is removed').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Remove' }).click()
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2)
    expect(await page.locator('tbody .who').allTextContents()).toEqual(['c', 'a'])
    await page.getByRole('button', { name: 'Clear …' }).click()
    await dialogOf(page).getByLabel('Type g-r to confirm').fill('g-r')
    await page.keyboard.press('Enter')
    await page.getByText('2 items removed.').waitFor()
    await page.getByText('No items.').waitFor()
    await page.getByRole('button', { name: 'Delete …' }).click()
    await dialogOf(page).getByLabel('Type g-r to confirm').fill('g-r')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Groups' }).waitFor()
    await expect(server.call('GET', 'groups/g-r')).rejects.toThrow('404')
  })
})

describe('feeds', () => {
  const fill = async (feed: string, count: number) => {
    const entries = Array.from({ length: count }, (_, i) => ({ key: `k${i}`, value: { of: i } }))
    await server.call('POST', `feeds/${feed}/entries`, { entries })
    for (;;) {
      const { unpublished } = (await server.call('GET', `feeds/${feed}`)) as { unpublished: number }
      if (unpublished === 0) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const cursorOf = async (feed: string, consumer: string) =>
    ((await server.call('GET', `feeds/${feed}/consumers/${consumer}`)) as { cursor: string }).cursor

  test('the first entry is put by the button of the empty page, and replaces none', async () => {
    const page = await pageOf('#/feeds?prefix=f-new', [412])
    for (const value of ['[1]', '[2]']) {
      await page.getByRole('button', { name: 'New entry' }).click()
      await dialogOf(page).getByLabel('Feed').fill('f-new')
      await dialogOf(page).getByLabel('Key').fill('k/1')
      await dialogOf(page).getByLabel('Value').fill(value)
      await dialogOf(page).getByRole('button', { name: 'Put' }).click()
      await page.getByText(value === '[1]' ? 'The entry is there.' : /has version 1/).waitFor()
      await page.goto(`${server.url}/#/feeds`)
    }
    expect(await server.call('GET', 'feeds/f-new/entries/k%2F1')).toMatchObject({ value: [1] })
  })

  test('the newest changes are shown, all of them from the beginning, and an entry by its key', async () => {
    await fill('f-read', 60)
    await server.call('DELETE', 'feeds/f-read/entries/k3')
    const page = await pageOf('#/feeds/f-read')
    await page.getByRole('row', { name: /k59/ }).waitFor()
    await page.getByRole('row', { name: /k3 deleted/ }).waitFor()
    await page.getByRole('link', { name: 'From the beginning' }).click()
    await page.getByRole('row', { name: /^1 k0/ }).waitFor()
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByRole('row', { name: /k59/ }).waitFor()
    await page.getByLabel('An entry, by its whole key').fill('k7')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'k7' }).waitFor()
    expect(await page.getByRole('region', { name: 'Value' }).locator('pre').textContent()).toBe('{\n  "of": 7\n}')
  })

  test('a consumer skips to the newest, starts over, and is deleted; entries are published again', async () => {
    await fill('f-move', 5)
    await server.call('PUT', 'feeds/f-move/consumers/search', { cursor: '2' })
    const page = await pageOf('#/feeds/f-move')
    await page.getByRole('button', { name: 'Set search to the newest' }).click()
    await dialogOf(page).getByText('search skips up to 3 changes').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Skip' }).click()
    await page.getByText('search continues after 5.').waitFor()
    expect(await cursorOf('f-move', 'search')).toBe('5')
    await page.getByRole('button', { name: 'Set search to the beginning' }).click()
    await dialogOf(page).getByText('search reads all 5 entries again').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Start over' }).click()
    await page.getByText('search continues after 0.').waitFor()
    expect(await cursorOf('f-move', 'search')).toBe('0')
    await page.getByRole('button', { name: 'Delete search' }).click()
    await dialogOf(page).getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No consumer has stored a cursor.').waitFor()

    await page.getByRole('button', { name: 'Publish again …' }).click()
    await dialogOf(page).getByLabel(/^Keys/).fill('k1\nk2\n')
    await dialogOf(page).getByRole('button', { name: 'Publish again' }).click()
    await page.getByText('2 entries will be published again.').waitFor()

    await page.getByRole('button', { name: 'Delete …' }).first().click()
    await dialogOf(page).getByLabel('Type f-move to confirm').fill('f-move')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Feeds' }).waitFor()
    expect(await server.call('GET', 'feeds?prefix=f-move')).toMatchObject({ feeds: [] })
  })
})
