/** The reference page in Chromium: all operations are shown, a call is made from it, and nothing breaks its policy. */
import { openPage, picture } from './support/browser'
import { startWithFile } from './support/server'

/** How many operations the document has. */
async function operationsOf(url: string): Promise<number> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> }
  return Object.values(paths).reduce((count, methods) => count + Object.keys(methods).length, 0)
}

test('shows every operation, and makes a call', async () => {
  const server = await startWithFile()
  await server.call('POST', 'groups/article%3A42/items', { member: '<script>fault</script>' })
  const page = await openPage(`${server.url}/docs`)
  await page.locator('.opblock').first().waitFor()
  expect(await page.locator('.opblock').count()).toBe(await operationsOf(server.url))
  await picture(page, 'docs')
  const operation = page.locator('#operations-Items-recentItems')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  // The examples are filled in, and nothing is older than the only item.
  for (const name of ['before', 'exclude']) {
    const row = operation.locator(`tr[data-param-name="${name}"]`)
    const remove = row.getByRole('button', { name: 'remove' })
    if ((await remove.count()) > 0) await remove.first().click()
    else await row.locator('input').fill('')
  }
  await operation.getByRole('button', { name: 'Execute' }).click()
  const answer = operation.locator('.live-responses-table .response').first()
  await answer.waitFor()
  expect(await answer.locator('.response-col_status').textContent()).toMatch(/^200/)
  expect(await answer.locator('.response-col_description').textContent()).toContain('<script>fault</script>')
  await operation.scrollIntoViewIfNeeded()
  await picture(page, 'docs-tried')
})

test('sends the key that is typed in', async () => {
  const server = await startWithFile()
  const { key } = await server.createKey({ scopes: ['read'] })
  const page = await openPage(`${server.url}/docs`, { expected: [401] })
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  await page.locator('.modal-ux input').fill(key)
  await page.locator('.modal-ux').getByRole('button', { name: 'Apply credentials' }).click()
  await page.locator('.modal-ux').getByRole('button', { name: 'Close' }).click()
  const operation = page.locator('#operations-Groups-listGroups')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  const sent = page.waitForRequest(/\/v1\/groups/)
  await operation.getByRole('button', { name: 'Execute' }).click()
  expect((await (await sent).allHeaders()).authorization).toBe(`Bearer ${key}`)
  const answer = operation.locator('.live-responses-table .response').first()
  await answer.waitFor()
  expect(await answer.locator('.response-col_status').textContent()).toMatch(/^200/)
})
