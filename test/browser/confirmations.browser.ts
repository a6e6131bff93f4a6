/** The questions before an act: they say how much will go, by counts that are true when the question is shown. */
import type { Page } from 'playwright-core'
import { DESKTOP, openPage, PHONE, picture } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

const pageOf = (hash: string, expected: number[] = []) => openPage(`${server.url}/${hash}`, { expected })
const dialogOf = (page: Page) => page.getByRole('dialog')

async function send(queue: string, count: number): Promise<void> {
  const messages = Array.from({ length: count }, (_, body) => ({ body }))
  await server.call('POST', `queues/${queue}/messages`, { messages })
}

/** Sends messages and has them die. */
async function die(queue: string, count: number): Promise<void> {
  await send(queue, count)
  const received = (await server.call('POST', `queues/${queue}/receive`, { limit: count })) as {
    messages: { receiptHandle: string }[]
  }
  const receiptHandles = received.messages.map(({ receiptHandle }) => receiptHandle)
  await server.call('POST', `queues/${queue}/nack`, { receiptHandles, dead: true })
}

const countOf = async (queue: string, state: string) => {
  const page = (await server.call('GET', `queues/${queue}/messages?state=${state}`)) as { messages: unknown[] }
  return page.messages.length
}

describe('a purge', () => {
  test('of a dead-letter queue says that the dead letters are deleted, how many, and whose', async () => {
    await server.call('PUT', 'queues/a-dead', {})
    await server.call('PUT', 'queues/a-mail', { deadLetterQueue: 'a-dead' })
    await server.call('PUT', 'queues/a-sms', { deadLetterQueue: 'a-dead' })
    await die('a-mail', 3)
    await die('a-dead', 2)
    const page = await pageOf('#/queues/a-dead')
    await page.getByRole('link', { name: 'Dead letters 3' }).waitFor()
    // The counts that the page has are seconds old.
    await die('a-sms', 4)
    await page.getByRole('button', { name: 'Purge …' }).click()
    const dialog = dialogOf(page)
    await dialog.getByText('7 dead letters are deleted for good').waitFor()
    // The queues are asked for once, and by themselves.
    await dialog.getByText('died in a-mail, a-sms').waitFor()
    await picture(page, 'purge-question')
    const said = (await dialog.textContent()) ?? ''
    expect(said).toContain("can't be redriven any more")
    expect(said).toMatch(/in flight, died in a-dead itself or are archived stay/)
    await dialog.getByLabel('Type a-dead to confirm').fill('a-dead')
    await dialog.getByRole('button', { name: 'Delete 7 dead letters' }).click()
    await page.getByText('7 messages deleted.').waitFor()
    expect([await countOf('a-dead', 'ready'), await countOf('a-dead', 'dead')]).toEqual([0, 2])
  })

  test('of another queue says what is deleted, counted when it asks', async () => {
    await server.call('PUT', 'queues/b-1', { maxReceives: 1 })
    await die('b-1', 1)
    await send('b-1', 2)
    const page = await pageOf('#/queues/b-1')
    await page.getByRole('link', { name: 'Ready 2' }).waitFor()
    await send('b-1', 1)
    await server.call('POST', 'queues/b-1/messages', { body: 'later', delaySeconds: 500 })
    await page.getByRole('button', { name: 'Purge …' }).click()
    await dialogOf(page).getByText('4 messages that are ready or delayed are deleted for good').waitFor()
    await dialogOf(page).getByText('in flight, dead or archived stay').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    await server.call('POST', 'queues/b-1/purge', {})
    await page.getByRole('button', { name: 'Purge …' }).click()
    await dialogOf(page).getByText('Nothing is ready or delayed').waitFor()
    await dialogOf(page).getByLabel('Type b-1 to confirm').fill('b-1')
    expect(await dialogOf(page).getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
  })
})

test('a redrive says how many messages go back', async () => {
  await server.call('PUT', 'queues/c-dead', {})
  await server.call('PUT', 'queues/c-mail', { deadLetterQueue: 'c-dead' })
  await die('c-mail', 2)
  // No letter: it stays.
  await send('c-dead', 5)
  const page = await pageOf('#/queues/c-dead')
  await page.getByRole('button', { name: 'Retry all' }).click()
  const dialog = dialogOf(page)
  await dialog.getByText('2 messages in c-dead are tried again from the beginning, where they died.').waitFor()
  await dialog.getByRole('button', { name: 'Retry 2 messages' }).click()
  await page.getByText('2 messages retried.').waitFor()
  await page.getByRole('button', { name: 'Retry all' }).waitFor({ state: 'detached' })
})

test('a question from the row of a table can be read whole, on a phone too', async () => {
  const consumer = 'search-index-of-the-shop-in-the-second-region'
  await server.call('PUT', 'feeds/rows/entries/a', { value: 1 })
  await server.call('PUT', `feeds/rows/consumers/${consumer}`, { cursor: '0' })
  for (const viewport of [DESKTOP, PHONE]) {
    const page = await openPage(`${server.url}/#/feeds/rows`, { viewport })
    await page.getByRole('button', { name: `Set ${consumer} to the newest` }).click()
    await dialogOf(page).getByText('that it has not read').waitFor()
    const cut = await dialogOf(page).evaluate((dialog) =>
      [dialog, ...dialog.querySelectorAll('*')]
        .filter(({ clientWidth, scrollWidth }) => clientWidth > 0 && scrollWidth > clientWidth)
        .map(({ localName, textContent }) => `${localName}: ${textContent}`),
    )
    expect(cut).toEqual([])
    expect(await dialogOf(page).evaluate((dialog) => getComputedStyle(dialog).textAlign)).toBe('start')
  }
})

test('the removal of a message says what it is at that moment', async () => {
  await server.call('PUT', 'queues/d-1', {})
  await send('d-1', 1)
  const page = await pageOf('#/queues/d-1')
  await page.getByRole('link', { name: /^Message/ }).click()
  await page.getByRole('heading', { name: /^Message/ }).waitFor()
  await page.getByRole('button', { name: 'Remove …' }).click()
  await dialogOf(page).getByText('This message is ready. It is deleted for good, and not archived.').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
  await server.call('POST', 'queues/d-1/receive', {})
  await page.getByRole('button', { name: 'Remove …' }).click()
  await dialogOf(page).getByText('This message is in flight').waitFor()
  await dialogOf(page).getByText("The receiver that has it can't settle it any more.").waitFor()
})

describe('a change of what a group keeps', () => {
  const change = async (page: Page, fill: (page: Page) => Promise<unknown>) => {
    await fill(page)
    await page.getByRole('button', { name: 'Save …' }).click()
  }

  test('says how many of its items go', async () => {
    await server.call('PUT', 'groups/e%3A1', { capacity: 10 })
    const append = (members: string) =>
      server.call('POST', 'items', { items: [...members].map((member) => ({ group: 'e:1', member, payload: member })) })
    await append('abcab')
    const page = await pageOf('#/groups/e%3A1')
    await page.getByRole('button', { name: 'Change settings' }).click()
    await append('a')
    await change(page, () => page.getByLabel('Capacity').fill('4'))
    await dialogOf(page).getByText('2 items are removed for good').waitFor()
    await page.keyboard.press('Escape')
    await change(page, () => page.getByLabel('Mode').selectOption('distinct'))
    await dialogOf(page).getByText('3 items are removed for good').waitFor()
    await page.keyboard.press('Escape')
    await change(page, async () => {
      await page.getByLabel('Mode').selectOption('history')
      await page.getByLabel('Capacity').fill('12')
    })
    await dialogOf(page).getByText('No item is removed.').waitFor()
    await page.keyboard.press('Escape')
    await change(page, () => page.getByLabel('Capacity').fill('1'))
    await dialogOf(page).getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings are saved.').waitFor()
    const left = (await server.call('GET', 'groups/e%3A1/items')) as { items: unknown[] }
    expect(left.items).toHaveLength(1)
  })

  test('by a policy says how many groups follow it, and how many items go at most', async () => {
    await server.call('PUT', 'policies/f%3A', { capacity: 8, mode: 'history' })
    await server.call('PUT', 'policies/f%3Aown%3A', { capacity: 8, mode: 'history' })
    await server.call('PUT', 'groups/f%3A3', { capacity: 8 })
    const items = ['f:1', 'f:2', 'f:3', 'f:own:1'].flatMap((group) => Array.from({ length: 6 }, () => ({ group })))
    await server.call('POST', 'items', { items })
    const page = await pageOf('#/policies/f%3A')
    await page.getByRole('button', { name: 'Change settings' }).click()
    await server.call('POST', 'groups/f%3A4/items', {})
    await change(page, () => page.getByLabel('Capacity').fill('5'))
    await dialogOf(page).getByText('4 groups follow it. 2 items in 2 of them are removed for good.').waitFor()
    await picture(page, 'policy-question')
    await page.keyboard.press('Escape')
    await change(page, () => page.getByLabel('Capacity').fill('9'))
    await dialogOf(page).getByText('4 groups follow it. No item is removed.').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Delete …' }).click()
    await dialogOf(page).getByText('4 groups follow it').waitFor()
    await page.keyboard.press('Escape')
    await page.goto(`${server.url}/#/policies`)
    await page.getByRole('button', { name: 'New policy' }).click()
    await page.getByLabel('Prefix').fill('f:own:')
    await change(page, () => page.getByLabel('Capacity').fill('4'))
    await dialogOf(page).getByText('1 group follows it. 2 items are removed for good.').waitFor()
  })
})
