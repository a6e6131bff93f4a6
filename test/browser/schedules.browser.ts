/** Schedules in a browser: found in the menu, looked at, and ended after a question. */
import { openPage, PHONE } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

test('are found in the menu, shown with what they send, and ended', async () => {
  const page = await openPage(`${server.url}/#/queues`, { expected: [404] })
  await page.getByRole('link', { name: 'Schedules' }).click()
  await page.getByText('There are no schedules yet').waitFor()
  expect(await page.locator('nav [aria-current]').textContent()).toBe('Schedules')

  await server.call('PUT', 'queues/reports', {})
  const body = { report: '<script>' }
  const definition = { queue: 'reports', cron: '30 2 * * *', timeZone: 'Europe/Berlin', body }
  await server.call('PUT', 'schedules/nightly', definition)
  await server.call('PUT', 'schedules/often', { queue: 'reports', everySeconds: 3600, missed: 'skip', body: 1 })
  await page.getByText('30 2 * * * (Europe/Berlin)').waitFor()
  await page.getByText('every 1 h').waitFor()
  await page.getByRole('link', { name: 'nightly' }).click()
  await page.getByRole('heading', { name: 'nightly' }).waitFor()
  await page.getByText('"report": "<script>"').waitFor()
  await page.getByText('the newest is sent late').waitFor()

  // The list that was shown before had it: with a slow answer, that list must not come back.
  await page.route('**/v1/schedules?*', (route) => setTimeout(() => route.continue(), 500))
  await page.getByRole('button', { name: 'End …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End' }).click()
  await page.getByRole('heading', { name: 'Schedules' }).waitFor()
  expect(await page.getByRole('link', { name: 'nightly' }).count()).toBe(0)
  await page.getByRole('link', { name: 'often' }).waitFor()
  expect(await page.getByRole('link', { name: 'nightly' }).count()).toBe(0)
  await expect(server.call('GET', 'schedules/nightly')).rejects.toThrow('404')
})

test('on a phone each has one line, with when it is due', async () => {
  await server.call('PUT', 'queues/nights', {})
  await server.call('PUT', 'schedules/nights', { queue: 'nights', everySeconds: 30_000_000, body: 1 })
  const page = await openPage(`${server.url}/#/schedules`, { viewport: PHONE })
  await page.getByRole('columnheader', { name: 'Due' }).waitFor()
  const time = page.getByRole('row', { name: /nights/ }).locator('time')
  expect(await time.textContent()).toMatch(/^in \d+ d( \d+ h)?$/)
  expect(await time.evaluate((element) => element.getClientRects().length)).toBe(1)
})
