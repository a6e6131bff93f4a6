/** Policies in a browser: listed, made, changed and deleted, each after a question. */
import { openPage } from './support/browser'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

const pageOf = (hash: string, expected: number[] = []) => openPage(`${server.url}/${hash}`, { expected })
const policyOf = (prefix: string) => server.call('GET', `policies/${encodeURIComponent(prefix)}`)

test('are found in the menu, made, changed and deleted', async () => {
  const page = await pageOf('', [404])
  await page.getByRole('link', { name: 'Policies' }).click()
  await page.getByText('There are no policies').waitFor()
  expect(await page.locator('nav [aria-current]').textContent()).toBe('Policies')

  await page.getByRole('button', { name: 'New policy' }).click()
  await page.getByLabel('Prefix').fill('article:<script>')
  await page.getByLabel('Capacity').fill('50')
  await page.getByLabel('Mode').selectOption('distinct')
  await page.getByLabel('Expiry in seconds').fill('1000')
  await page.getByRole('button', { name: 'Save …' }).click()
  const dialog = page.getByRole('dialog')
  await dialog
    .getByText('article:<script> will have capacity 50, mode distinct, expiry 16 min 40 s, forget when empty never.')
    .waitFor()
  await dialog.getByRole('button', { name: 'Back' }).click()
  await expect(policyOf('article:<script>')).rejects.toThrow('404')
  await page.getByRole('button', { name: 'Save …' }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'article:<script>' }).waitFor()
  expect(await policyOf('article:<script>')).toMatchObject({ capacity: 50, mode: 'distinct', ttlSeconds: 1000 })
  await page.getByText('Expiry16 min 40 s').waitFor()

  await page.getByRole('button', { name: 'Change settings' }).click()
  expect(await page.getByLabel('Mode').inputValue()).toBe('distinct')
  await page.getByLabel('Capacity').fill('60')
  await page.getByLabel('Expiry in seconds').fill('')
  await page.getByRole('button', { name: 'Save …' }).click()
  await dialog.getByText('capacity 60, mode distinct, expiry never').waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The policy is saved. Groups follow it within 5 seconds.').waitFor()
  await page.getByText('Capacity60').waitFor()
  expect(await policyOf('article:<script>')).toMatchObject({ capacity: 60, mode: 'distinct', ttlSeconds: null })

  await page.getByRole('button', { name: 'Delete …' }).click()
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await policyOf('article:<script>')).toMatchObject({ capacity: 60 })
  await page.getByRole('button', { name: 'Delete …' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'Policies' }).waitFor()
  await page.getByText('There are no policies').waitFor()
  await expect(policyOf('article:<script>')).rejects.toThrow('404')
})

test('lead to their groups, and are listed in pages of 50', async () => {
  for (let i = 100; i < 160; i++) await server.call('PUT', `policies/p${i}%3A`, { capacity: 5, mode: 'history' })
  await server.call('POST', 'groups/p100%3A1/items', { member: 'm' })
  await server.call('POST', 'groups/other/items', {})
  const page = await pageOf('#/policies')
  await page.getByRole('row', { name: /p149:/ }).waitFor()
  expect(await page.locator('tbody tr').count()).toBe(50)
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByRole('row', { name: /p150:/ }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'p100:' }).click()
  await page.getByRole('link', { name: 'Groups that begin with it' }).click()
  await page.getByRole('row', { name: /p100:1/ }).waitFor()
  expect(await page.locator('tbody tr').count()).toBe(1)
})

test('a prefix that is not valid is refused with what is wrong about it', async () => {
  const page = await pageOf('#/policies', [400])
  await page.getByRole('button', { name: 'New policy' }).click()
  await page.getByLabel('Prefix').fill('x'.repeat(192))
  await page.getByLabel('Capacity').fill('5')
  await page.getByRole('button', { name: 'Save …' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').filter({ hasText: '191' }).waitFor()
})
