/** Names, payloads and errors that would like to be markup, paths or something else than text. */
import { openPage, PHONE, picture } from './support/browser'
import { type Server, startWithFile } from './support/server'

const NAMES = [
  '<script>window.hacked = 1</script>',
  '"><img src=x onerror="window.hacked = 1">',
  "javascript:window.hacked=1//'",
  'a/b/../c?d=e#f&g%2F',
  '  two  spaces  ',
  'שלום <b>עולם</b> \u202e txt.exe',
  '👩‍👩‍👧 family 🏳️‍🌈',
  '__proto__',
  'x'.repeat(191),
]

/** By name: the address of the page of a dead letter that came from the queue of that name. */
const letters = new Map<string, string>()

let server: Server
beforeAll(async () => {
  server = await startWithFile()
  await server.call('PUT', 'queues/zz-letters', {})
  for (const name of NAMES) {
    const at = encodeURIComponent(name)
    await server.call('POST', `groups/${at}/items`, { member: name, payload: { [name]: name }, eventId: name })
    await server.call('PUT', `policies/${at}`, { capacity: 10, mode: 'history' })
    await server.call('PUT', `queues/${at}`, { maxReceives: 1 })
    await server.call('POST', `queues/${at}/messages`, { body: name, messageGroup: name })
    const received = await server.call('POST', `queues/${at}/receive`, {})
    const [{ receiptHandle }] = (received as { messages: [{ receiptHandle: string }] }).messages
    await server.call('POST', `queues/${at}/nack`, { receiptHandles: [receiptHandle], error: name })
    await server.call('PUT', `feeds/${at}/entries/${at}`, { value: name })
    await server.call('PUT', `feeds/${at}/consumers/${at}`, { cursor: '0' })
  }
  for (const name of NAMES) {
    const at = encodeURIComponent(name)
    await server.call('PUT', `queues/${at}`, { maxReceives: 1, deadLetterQueue: 'zz-letters' })
    const { id } = (await server.call('POST', `queues/${at}/messages`, { body: name })) as { id: string }
    await server.call('POST', `queues/${at}/receive`, { visibilityTimeoutSeconds: 0 })
    await server.call('GET', `queues/${at}`)
    letters.set(name, `#/queues/zz-letters/messages/${id}`)
  }
})

const isHacked = () => 'hacked' in window

test.each(NAMES)('%j is text everywhere', async (name) => {
  const page = await openPage(`${server.url}/#/groups`)
  // As the rows have it: white space counts.
  const cell = (tag: string) => page.locator(`main ${tag} .name`).filter({ hasText: name.trim() })
  const exactly = async (locator: ReturnType<typeof cell>) =>
    expect(await locator.first().evaluate((element) => element.textContent)).toBe(name)
  const heading = async () => {
    await page.locator('main h1 .name').waitFor()
    await exactly(page.locator('main h1 .name'))
  }
  await cell('th').first().click()
  await heading()
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  await exactly(page.locator('tbody .who .name'))
  await page.locator('summary').click()
  expect(JSON.parse((await page.locator('tbody pre').textContent()) ?? '')).toEqual(Object.fromEntries([[name, name]]))
  await page.locator('tbody .who a').click()
  await page.getByText('Member', { exact: true }).waitFor()
  await heading()

  await page.getByRole('link', { name: 'Groups', exact: true }).first().click()
  await page.getByRole('link', { name: 'Policies' }).click()
  await page.getByRole('heading', { name: 'Policies' }).waitFor()
  await cell('th').first().click()
  await heading()
  await page.getByRole('button', { name: 'Delete …' }).click()
  await exactly(page.getByRole('dialog').locator('.name'))
  await page.keyboard.press('Escape')

  await page.getByRole('link', { name: 'Queues', exact: true }).first().click()
  await page.getByRole('heading', { name: 'Queues' }).waitFor()
  await cell('th').first().click()
  await heading()
  await page.getByRole('link', { name: /^Dead/ }).click()
  await page.locator('tbody .error').waitFor()
  expect(await page.locator('tbody .error').textContent()).toBe(name)
  await page.getByRole('link', { name: /^Message/ }).click()
  await page.getByRole('heading', { name: /^Message/ }).waitFor()
  expect(await page.getByRole('region', { name: 'Body' }).locator('pre').textContent()).toBe(JSON.stringify(name))
  expect(await page.getByRole('region', { name: 'Why it died' }).locator('pre').textContent()).toBe(name)
  await page.goto(`${server.url}/${letters.get(name)}`)
  await page.getByText('dead letter', { exact: true }).waitFor()
  await exactly(page.locator('.head a .name'))
  await page.locator('.head a').click()
  await heading()

  await page.getByRole('link', { name: 'Feeds' }).first().click()
  await page.getByRole('heading', { name: 'Feeds' }).waitFor()
  await cell('th').first().click()
  await heading()
  // The consumer, and the entry.
  const names = page.locator('tbody .name')
  await names.nth(1).waitFor()
  for (const each of await names.all()) await exactly(each)
  expect(await page.evaluate(isHacked)).toBe(false)
})

test('a page with all of them is no wider than a phone', async () => {
  const page = await openPage(server.url, { viewport: PHONE })
  const longest = encodeURIComponent(NAMES.at(-1) as string)
  for (const place of ['groups', 'policies', 'queues', 'feeds', `groups/${longest}`]) {
    await page.goto(`${server.url}/#/${place}`)
    await page.locator('tbody tr').first().waitFor()
    await picture(page, `hostile-${place.slice(0, 9).replace('/', '-')}-phone`, { fullPage: true })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  }
  for (const place of ['#/queues/zz-letters', letters.get(NAMES.at(-1) as string)]) {
    await page.goto(`${server.url}/${place}`)
    await page
      .getByText(/^dead.letter/)
      .first()
      .waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  }
  expect(await page.evaluate(isHacked)).toBe(false)
})

test('an address that was made up shows a page all the same', async () => {
  for (const hash of ['#/%zz', '#/groups/%E0%A4%A', '#//groups//', '#<img src=x>', '#/queues/none', '#/nowhere?x=1']) {
    const page = await openPage(`${server.url}/${hash}`, { expected: [400, 404] })
    await page.locator('main h1').waitFor()
  }
})
