/** Two tabs change the same settings at the same time: the second save fails and says so, and nothing is lost. */
import type { Page } from 'playwright-core'
import { openPage, picture } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

const dialogOf = (page: Page) => page.getByRole('dialog')

async function formOf(hash: string): Promise<Page> {
  const page = await openPage(`${server.url}/${hash}`, { expected: [404, 412] })
  await page.getByRole('button', { name: 'Change settings' }).click()
  await page.getByLabel('Capacity').waitFor()
  return page
}

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save …' }).click()
  await dialogOf(page).getByRole('button', { name: 'Save' }).click()
}

test('of a group', async () => {
  await server.call('PUT', 'groups/g%3A1', { capacity: 10, ttlSeconds: 3600 })
  const [first, second] = [await formOf('#/groups/g%3A1'), await formOf('#/groups/g%3A1')]
  await first.getByLabel('Capacity').fill('20')
  await save(first)
  await first.getByText('The settings are saved.').waitFor()

  await second.getByLabel('Mode').selectOption('distinct')
  await save(second)
  const alert = second.getByRole('alert')
  await alert.getByText('Another user has changed these settings: capacity is 20 now (it was 10).').waitFor()
  await alert.getByText('Nothing was saved.').waitFor()
  await picture(second, 'settings-changed')
  expect(await server.call('GET', 'groups/g%3A1')).toMatchObject({ own: { capacity: 20, ttlSeconds: 3600 } })
  // Fields that were not typed in follow; typed text stays.
  expect(await second.getByLabel('Capacity').inputValue()).toBe('20')
  expect(await second.getByLabel('Mode').inputValue()).toBe('distinct')
  await save(second)
  await second.getByText('The settings are saved.').waitFor()
  const own = { capacity: 20, mode: 'distinct', ttlSeconds: 3600 }
  expect(await server.call('GET', 'groups/g%3A1')).toMatchObject({ own })
})

test('of a group that another user deletes', async () => {
  await server.call('PUT', 'groups/g%3A2', { capacity: 10 })
  const page = await formOf('#/groups/g%3A2')
  await page.getByLabel('Capacity').fill('20')
  await page.getByRole('button', { name: 'Save …' }).click()
  await dialogOf(page).getByText('capacity 20').waitFor()
  await server.call('DELETE', 'groups/g%3A2')
  await dialogOf(page).getByRole('button', { name: 'Save' }).click()
  await page.getByText(/Another user has deleted/).waitFor()
  await expect(server.call('GET', 'groups/g%3A2')).rejects.toThrow('404')
})

test('of a policy', async () => {
  await server.call('PUT', 'policies/p%3A', { capacity: 10, mode: 'history', ttlSeconds: null })
  const page = await formOf('#/policies/p%3A')
  await page.getByLabel('Mode').selectOption('distinct')
  await server.call('PUT', 'policies/p%3A', { capacity: 12, mode: 'history', ttlSeconds: 60 })
  await save(page)
  await page
    .getByText(
      'Another user has changed these settings: capacity is 12 now (it was 10), expiry is 1 min now (it was never).',
    )
    .waitFor()
  expect(await server.call('GET', 'policies/p%3A')).toMatchObject({ capacity: 12, mode: 'history', ttlSeconds: 60 })
  await save(page)
  await page.getByText('The policy is saved.').waitFor()
  expect(await server.call('GET', 'policies/p%3A')).toMatchObject({ capacity: 12, mode: 'distinct', ttlSeconds: 60 })
})

test('a new policy does not replace one that is there', async () => {
  await server.call('PUT', 'policies/q%3A', { capacity: 10, mode: 'history', ttlSeconds: null })
  const page = await openPage(`${server.url}/#/policies`, { expected: [412] })
  await page.getByRole('button', { name: 'New policy' }).click()
  await page.getByLabel('Prefix').fill('q:')
  await page.getByLabel('Capacity').fill('3')
  await save(page)
  await page
    .getByText('There is a policy for q: already: capacity 10, mode history, expiry never, forget when empty never.')
    .waitFor()
  expect(await server.call('GET', 'policies/q%3A')).toMatchObject({ capacity: 10 })
})
