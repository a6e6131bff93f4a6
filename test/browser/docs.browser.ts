/** The reference page in Chromium: all operations are shown, a call is made from it, and nothing breaks its policy. */
import { becomes, openPage, PHONE, picture } from './support/browser'
import { faintTexts } from './support/contrast'
import { type Server, startWithFile } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
})

/** How many operations the document has. */
async function operationsOf(url: string): Promise<number> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> }
  return Object.values(paths).reduce((count, methods) => count + Object.keys(methods).length, 0)
}

test('shows every operation, and makes a call', async () => {
  await server.call('POST', 'groups/article%3A42/items', { member: '<script>fault</script>' })
  const page = await openPage(`${server.url}/docs`)
  await becomes(() => page.locator('.opblock').count(), await operationsOf(server.url))
  await picture(page, 'docs')
  const operation = page.locator('#operations-Items-recentItems')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  // As it is prefilled, it shows what was just appended.
  await operation.getByRole('button', { name: 'Execute' }).click()
  const answer = operation.locator('.live-responses-table .response').first()
  await answer.waitFor()
  expect(await answer.locator('.response-col_status').textContent()).toMatch(/^200/)
  expect(await answer.locator('.response-col_description').textContent()).toContain('<script>fault</script>')
  await operation.scrollIntoViewIfNeeded()
  await picture(page, 'docs-tried')
})

test('prefills no cursor and no filter; what has to be there is', async () => {
  await server.call('POST', 'groups/zebra/items', {})
  const page = await openPage(`${server.url}/docs`)
  const operation = page.locator('#operations-Groups-listGroups')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  const sent = page.waitForRequest(/\/v1\/groups/)
  await operation.getByRole('button', { name: 'Execute' }).click()
  expect(new URL((await sent).url()).search).toBe('?limit=100')
  await operation.locator('.live-responses-table').getByText('zebra').waitFor()

  const changes = page.locator('#operations-Feeds-getChanges')
  await changes.locator('.opblock-summary-control').click()
  await changes.getByRole('button', { name: 'Try it out' }).click()
  const typedIn = (name: string) => changes.locator(`tr[data-param-name="${name}"] input`).inputValue()
  await becomes(() => Promise.all(['feed', 'after', 'consumer'].map(typedIn)), ['users', '', ''])
})

test('does not offer to try a stream, of which nothing would be seen', async () => {
  const page = await openPage(`${server.url}/docs`)
  for (const [id, count] of [
    ['Items-streamGroup', 0],
    ['Items-recentItems', 1],
  ] as const) {
    const operation = page.locator(`#operations-${id}`)
    await operation.locator('.opblock-summary-control').click()
    await operation.getByRole('heading', { name: 'Parameters' }).waitFor()
    expect([id, await operation.getByRole('button', { name: 'Try it out' }).count()]).toEqual([id, count])
  }
  await page.getByText('curl -N').waitFor()
})

describe.each([
  ['light', 'rgb(255, 255, 255)'],
  ['dark', 'rgb(28, 32, 34)'],
] as const)('%s as the system is', (colorScheme, ground) => {
  test('all text stands out from its ground', async () => {
    const page = await openPage(`${server.url}/docs`, { colorScheme })
    await page.locator('.opblock').first().waitFor()
    await picture(page, `docs-desktop-${colorScheme}`)
    const back = await page.evaluate(
      () =>
        [document.body, document.documentElement]
          .map((each) => getComputedStyle(each).backgroundColor)
          .find((color) => color !== 'rgba(0, 0, 0, 0)') ?? 'rgb(255, 255, 255)',
    )
    expect(back).toBe(ground)
    for (const [id, isTried] of [
      ['Groups-putGroup', true],
      ['Items-appendItem', true],
      ['Items-recentItems', true],
      ['Items-streamGroup', false],
      ['Groups-dropGroup', false],
    ] as const) {
      const operation = page.locator(`#operations-${id}`)
      await operation.locator('.opblock-summary-control').click()
      if (isTried) {
        await operation.getByRole('button', { name: 'Try it out' }).click()
        await operation.getByRole('button', { name: 'Execute' }).click()
        await operation.locator('.live-responses-table .response').first().waitFor()
      }
      const schema = operation.getByRole('tab', { name: 'Schema' }).first()
      if ((await schema.count()) > 0) await schema.click()
    }
    await page.mouse.move(0, 0)
    await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)))
    expect(await faintTexts(page)).toEqual([])
    await page.locator('#operations-Groups-putGroup').scrollIntoViewIfNeeded()
    await picture(page, `docs-open-desktop-${colorScheme}`)
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    await page.locator('.modal-ux').waitFor()
    expect(await faintTexts(page)).toEqual([])
  })

  test('fits a phone', async () => {
    const page = await openPage(`${server.url}/docs`, { colorScheme, viewport: PHONE })
    await page.locator('.opblock').first().waitFor()
    await picture(page, `docs-phone-${colorScheme}`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  })
})

test('turns with the system while it is looked at', async () => {
  const page = await openPage(`${server.url}/docs`, { colorScheme: 'light' })
  await page.locator('.opblock').first().waitFor()
  const isDark = () => page.evaluate(() => document.documentElement.classList.contains('dark-mode'))
  expect(await isDark()).toBe(false)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.waitForFunction(() => document.documentElement.classList.contains('dark-mode'))
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
