/** Queues and feeds in a browser: counts, dead letters and their way back, bodies, pausing, purging; lags. */
import { becomes, openPage, PHONE } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

const pageOf = (hash: string) => openPage(`${server.url}/${hash}`)
const send = (queue: string, body: unknown) => server.call('POST', `queues/${queue}/messages`, { body })

interface Received {
  messages: { receiptHandle: string }[]
}

async function fail(queue: string, error: string, dead: boolean): Promise<void> {
  const { messages } = (await server.call('POST', `queues/${queue}/receive`, {})) as Received
  const receiptHandles = messages.map(({ receiptHandle }) => receiptHandle)
  await server.call('POST', `queues/${queue}/nack`, { receiptHandles, error, dead })
}

test('the list has counts, the age of the oldest, and says what is paused', async () => {
  await server.call('PUT', 'queues/l-paused', {})
  await server.call('POST', 'queues/l-paused/pause')
  await server.call('PUT', 'queues/l-mail', { maxReceives: 1 })
  for (let i = 0; i < 3; i++) await send('l-mail', i)
  await fail('l-mail', 'no', true)
  const page = await pageOf('#/queues?prefix=l-')
  await page.getByRole('row', { name: /l-mail.* 2 0 0 0 1 \d+ s/ }).waitFor()
  await page.getByRole('row', { name: /l-paused paused/ }).waitFor()
})

describe('dead letters', () => {
  test('are shown in their queue, with their error, and are sent back', async () => {
    await server.call('PUT', 'queues/d-dead', {})
    await server.call('PUT', 'queues/d-mail', { maxReceives: 1, deadLetterQueue: 'd-dead' })
    await send('d-mail', { to: 'goran@example.org' })
    await fail('d-mail', 'SMTP 550: mailbox unavailable', false)
    const page = await pageOf('#/queues/d-mail?state=dead')
    await page.getByText('The dead messages of this queue go to').getByRole('link', { name: 'd-dead' }).click()
    await page.getByRole('row', { name: /goran@example\.org.*SMTP 550: mailbox unavailable/ }).waitFor()
    await page.getByRole('button', { name: 'Retry all' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 1 message' }).click()
    await page.getByText('1 message retried.').waitFor()
    await page.getByText('There are no dead letters.').waitFor()
    await page.getByRole('link', { name: 'd-mail' }).click()
    await page.getByRole('row', { name: /goran@example\.org/ }).waitFor()
  })

  test('are marked in the list, in their queue and on their page, and lead to where they died', async () => {
    await server.call('PUT', 'queues/e-dead', {})
    await server.call('PUT', 'queues/e-mail', { maxReceives: 1, deadLetterQueue: 'e-dead' })
    await server.call('PUT', 'queues/e-own', { maxReceives: 1 })
    for (const queue of ['e-mail', 'e-mail', 'e-own']) await send(queue, { of: queue })
    await fail('e-own', 'no', true)
    await fail('e-mail', '', true)
    // This one runs out of its visibility timeout.
    await server.call('POST', 'queues/e-mail/receive', { visibilityTimeoutSeconds: 0 })
    await server.call('GET', 'queues/e-mail')
    const page = await pageOf('#/queues?prefix=e-')
    const row = page.getByRole('row', { name: /e-dead dead-letter queue .* 0 0 0 2 \d+ s/ })
    await row.waitFor()
    await page.getByRole('row', { name: /e-own .* 0 0 0 1 –/ }).waitFor()
    const colors = await page.locator('td.bad').evaluateAll((all) => all.map((cell) => getComputedStyle(cell).color))
    expect([colors.length, new Set(colors).size]).toEqual([3, 1])

    await row.getByRole('link', { name: 'e-dead' }).click()
    await page.getByRole('heading', { name: 'e-dead' }).waitFor()
    await page.getByText('dead-letter queue', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Dead letters 2' }).waitFor()
    await page.getByRole('row', { name: /visibility timeout ran out after 1 receive\. from e-mail/ }).waitFor()
    expect(await page.getByLabel('Figures').textContent()).toMatch(/Waiting0.*Dead2$/)

    await page.setViewportSize(PHONE)
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(await overflow()).toBe(0)
    await page
      .getByRole('link', { name: /^Message \d+$/ })
      .nth(1)
      .click()
    const head = page.locator('.head')
    await head.getByText('dead letter').waitFor()
    expect(await head.textContent()).toMatch(/dead letter\s?from e-mail/)
    expect(await page.locator('.badge').allTextContents()).toEqual(['dead letter'])
    const facts = (await page.locator('.facts').textContent()) ?? ''
    expect(facts).toMatch(
      /^Receives before it died1Receives here0 of at most 5.*Sent.*First received.*Died.*Last received/,
    )
    expect(facts).not.toContain('Ready')
    expect(await page.getByRole('region', { name: 'Why it died' }).textContent()).toContain(
      'The visibility timeout ran out after 1 receive.',
    )
    expect(await overflow()).toBe(0)
    await page.goBack()
    await page
      .getByRole('link', { name: /^Message \d+$/ })
      .first()
      .click()
    await page.getByRole('region', { name: 'Why it died' }).getByText('No error was given.').waitFor()
    // By keyboard, from the heading that has the focus.
    const from = head.getByRole('link', { name: 'e-mail' })
    for (let i = 0; i < 5 && !(await from.evaluate((link) => link === document.activeElement)); i++) {
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'e-mail' }).waitFor()
    await page.goto(`${server.url}/#/queues?prefix=e-`)
    await page.getByRole('row', { name: /e-dead dead-letter queue/ }).waitFor()
    expect(await overflow()).toBe(0)
  })

  test('that have no other queue are dead in their own', async () => {
    await server.call('PUT', 'queues/d-own', { maxReceives: 1 })
    await send('d-own', 'x')
    await fail('d-own', 'Error: <b>bold</b>', false)
    const page = await pageOf('#/queues/d-own?state=dead')
    await page.locator('tbody .error').getByText('Error: <b>bold</b>').waitFor()
    await page.getByRole('button', { name: 'Retry all' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Retry all' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 1 message' }).click()
    await page.getByText('1 message retried.').waitFor()
    await page.getByText('Nothing is dead here.').waitFor()
    await page.getByRole('link', { name: /^Ready\s*1$/ }).click()
    await page.getByRole('link', { name: 'Message' }).waitFor()
  })
})

test('a message is shown with its body, its error and its times, and removed', async () => {
  await server.call('PUT', 'queues/m-1', { maxReceives: 5 })
  await send('m-1', { to: 'ana', lines: ['one\ntwo', '<i>'] })
  await fail('m-1', 'first line\n  second line', false)
  const page = await pageOf('#/queues/m-1')
  await page.getByRole('link', { name: /^Message \d+$/ }).click()
  await page.getByRole('heading', { name: /Message \d+/ }).waitFor()
  expect(await page.getByRole('region', { name: 'Body' }).locator('pre').textContent()).toBe(
    '{\n  "to": "ana",\n  "lines": [\n    "one\\ntwo",\n    "<i>"\n  ]\n}',
  )
  expect(await page.getByRole('region', { name: 'Last error' }).locator('pre').textContent()).toBe(
    'first line\n  second line',
  )
  await page.getByText('1 of at most 5').waitFor()
  await page.getByRole('button', { name: 'Remove …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('heading', { name: 'm-1' }).waitFor()
  await page.getByText('Nothing is ready.').waitFor()
})

test('a message that is settled while it is being read stays, and says so', async () => {
  await server.call('PUT', 'queues/m-2', {})
  await send('m-2', { to: 'read me' })
  const page = await openPage(`${server.url}/#/queues/m-2`, { expected: [404] })
  await page.getByRole('link', { name: /^Message \d+$/ }).click()
  await page.getByRole('region', { name: 'Body' }).getByText('read me').waitFor()
  await server.call('POST', 'queues/m-2/purge', {})
  await page.getByText('This message is no longer in the queue: it was settled or removed.').waitFor()
  expect(await page.getByText('read me').isVisible()).toBe(true)
  expect(await page.getByRole('button', { name: 'Remove …' }).count()).toBe(0)
})

test('a queue is paused and resumed, and keeps its other attributes', async () => {
  const attributes = {
    visibilityTimeoutSeconds: 77,
    maxReceives: 4,
    onAck: 'archive',
    retentionSeconds: 99,
    maxMessages: 1234,
  }
  await server.call('PUT', 'queues/p-1', attributes)
  const page = await pageOf('#/queues/p-1')
  const shown = page.getByRole('region', { name: 'Attributes' })
  await shown.getByText('archived for').waitFor()
  expect(await shown.textContent()).toContain('Messagesat most 1234')
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused: receives get nothing.').waitFor()
  // A setting that is changed at the same time is kept, and keeps the pause.
  Object.assign(attributes, { maxReceives: null })
  await server.call('PUT', 'queues/p-1', attributes)
  expect(await server.call('GET', 'queues/p-1')).toMatchObject({ ...attributes, paused: true })
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('Resumed.').waitFor()
  expect(await server.call('GET', 'queues/p-1')).toMatchObject({ ...attributes, paused: false })
})

test('a purge wants the name to be typed', async () => {
  await server.call('PUT', 'queues/u-1', {})
  for (let i = 0; i < 3; i++) await send('u-1', i)
  const page = await pageOf('#/queues/u-1')
  await page.getByRole('button', { name: 'Purge …' }).click()
  const drop = page.getByRole('button', { name: 'Delete 3 messages' })
  expect(await drop.isDisabled()).toBe(true)
  await page.getByLabel('Type u-1 to confirm').fill('u-1')
  await drop.click()
  await page.getByText('3 messages deleted.').waitFor()
  await page.getByText('Nothing is ready.').waitFor()
})

test('feeds have their lag by consumer', async () => {
  await server.call('POST', 'feeds/users/entries', { entries: ['a', 'b', 'c'].map((key) => ({ key, value: key })) })
  const published = async () => ((await server.call('GET', 'feeds/users')) as { lastSyncId: string }).lastSyncId
  await becomes(published, '3', 10_000)
  await server.call('PUT', 'feeds/users/consumers/search', { cursor: '1' })
  await server.call('PUT', 'feeds/users/consumers/mirror', { cursor: '3' })
  const page = await pageOf('#/feeds')
  await page.getByRole('row', { name: /users\s*2 consumers 3 3 0 – 2/ }).waitFor()
  await page.getByRole('link', { name: 'users' }).click()
  await page.getByRole('row', { name: /^search 1 2/ }).waitFor()
  await page.getByRole('row', { name: /^mirror 3 0 .*ago/ }).waitFor()
  await server.call('PUT', 'feeds/users/consumers/search', { cursor: '2' })
  await page.getByRole('row', { name: /^search 2 1/ }).waitFor()
})
