/** How the dashboard behaves: by keyboard alone, for those who listen, in a hidden tab, and towards the browser. */
import type { Page } from 'playwright-core'
import { DASHBOARD_POLICY } from '../../src/http/page-files'
import { onceDrawn, openPage } from './support/browser'
import { type Server, startWithFile } from './support/server'
import { fillShop } from './support/shop'

let server: Server
beforeAll(async () => {
  server = await startWithFile()
  await fillShop(server)
})

const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement } = document
    return `${activeElement?.localName} ${activeElement?.textContent?.trim()}`
  })

test('everything can be reached by keyboard, and the focus is seen and follows', async () => {
  const page = await openPage(`${server.url}/#/groups`)
  await page.getByRole('row', { name: /article:oak-desk/ }).waitFor()
  // No key reaches a button before it is known what the user may do.
  await page.getByRole('button', { name: 'New group', disabled: false }).waitFor()
  const walk: string[] = []
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press('Tab')
    walk.push(await focused(page))
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)
    expect([walk.at(-1), outline]).toEqual([walk.at(-1), 'solid'])
  }
  expect(walk).toEqual([
    'button Skip to the content',
    'a recentn',
    'a Overview',
    'a Queues',
    'a Schedules',
    'a Groups',
    'a Policies',
    'a Feeds',
    'a No key',
    'button New group',
    'input ',
    'a article:espresso-machine',
  ])
  await page.keyboard.press('Enter')
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  expect(await focused(page)).toBe('h1 article:espresso-machine')
  expect(await page.title()).toBe('article:espresso-machine · recentn')

  const press = async (name: string) => {
    await page.getByRole('button', { name, disabled: false }).waitFor()
    for (let i = 0; i < 12 && !(await focused(page)).endsWith(` ${name}`); i++) await page.keyboard.press('Tab')
    expect(await focused(page)).toMatch(new RegExp(` ${name}$`))
    await page.keyboard.press('Enter')
  }
  await press('Change settings')
  await page.getByLabel('Capacity').waitFor()
  await press('Save …')
  await page.getByText('No item is removed.').waitFor()
  expect(await focused(page)).toBe('button Back')
  await page.keyboard.press('Escape')
  await page.getByLabel('Capacity').waitFor()
  expect(await focused(page)).toBe('button Save …')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('button Change settings')
})

test('a page, and the second step of a dialog, have the focus as soon as they are drawn', async () => {
  const page = await openPage(`${server.url}/#/groups`)
  const active = () => `${document.title}, ${document.activeElement?.textContent}`
  const opened = await onceDrawn(page, 'main .over', active)
  await page.getByRole('link', { name: 'article:espresso-machine' }).click()
  expect(await opened()).toBe('article:espresso-machine · recentn, article:espresso-machine')
  await page.getByRole('button', { name: 'Change settings' }).click()
  const asked = await onceDrawn(page, 'dialog .fields[hidden]', active)
  await page.getByRole('button', { name: 'Save …' }).click()
  expect(await asked()).toBe('article:espresso-machine · recentn, Back')
})

test('what is typed as soon as a search is drawn stays', async () => {
  const page = await openPage(`${server.url}/#/queues`)
  const typed = await onceDrawn(page, '[placeholder="Group or member"]', (input) => {
    input.value = 'typed'
    input.dispatchEvent(new Event('input', { bubbles: true }))
    // After the paint, and before the list is asked for.
    return new Promise<string>((resolve) => setTimeout(() => resolve(input.value), 100))
  })
  await page.getByRole('link', { name: 'Groups' }).click()
  expect(await typed()).toBe('typed')
})

test('a link that is followed while the page is drawn first is followed', async () => {
  const page = await openPage(`${server.url}/#/groups`)
  await page.addInitScript(() => {
    const drawn = new MutationObserver(() => {
      if (document.querySelector('main h1') === null) return
      drawn.disconnect()
      // Before any effect of the page: those run once it has been painted.
      location.hash = '#/queues'
    })
    drawn.observe(document, { childList: true, subtree: true })
  })
  await page.reload()
  await page.getByRole('heading', { name: 'Queues' }).waitFor()
  expect(await page.locator('nav[aria-label=Main] a[aria-current=page]').textContent()).toBe('Queues')
})

test('the skip button leads to the heading', async () => {
  const page = await openPage(`${server.url}/#/queues`)
  await page.getByRole('row', { name: /thumbnails/ }).waitFor()
  await page.keyboard.press('Tab')
  await page.getByText('Skip to the content').waitFor()
  await page.keyboard.press('Enter')
  expect(await focused(page)).toBe('h1 Queues')
})

test('pages have landmarks, one heading of the first rank, and a name for every field', async () => {
  const page = await openPage(server.url)
  const groups = ['#/groups', '#/groups/login%3Aana', '#/policies', '#/policies/login%3A']
  for (const hash of [...groups, '#/queues', '#/queues/mail', '#/feeds/users', '#/key']) {
    await page.goto(`${server.url}/${hash}`)
    await page.locator('main h1').waitFor()
    await page.locator('main table, main .facts, main .key-form, main .chart').first().waitFor()
    const change = page.getByRole('button', { name: /^(Change settings|New policy)$/ })
    if (await change.isVisible()) await change.click()
    const found = await page.evaluate(() => ({
      landmarks: ['header', 'nav', 'main', 'main h1'].map(
        (each) =>
          document.querySelectorAll(`#app > ${each}, header > ${each}, ${each === 'main h1' ? each : '#none'}`).length,
      ),
      nameless: [...document.querySelectorAll<HTMLInputElement>('input, select')].filter(
        (field) => field.labels?.length !== 1 || field.labels[0]?.textContent?.trim() === '',
      ).length,
      silent: [...document.querySelectorAll('button, a')].filter(
        (each) => each.textContent?.trim() === '' && !each.hasAttribute('aria-label'),
      ).length,
      // A chart is one picture: nothing in it is read as a table.
      headless: document.querySelectorAll('th:not([scope], [role=img] *)').length,
      lang: document.documentElement.lang,
    }))
    expect([hash, found]).toEqual([hash, { landmarks: [1, 1, 1, 1], nameless: 0, silent: 0, headless: 0, lang: 'en' }])
  }
})

test('below each page is the way to the reference, and the version of the server', async () => {
  const page = await openPage(`${server.url}/#/queues/mail`)
  const { info } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { info: { version: string } }
  await page.getByRole('contentinfo').getByText(`recentn ${info.version}`).waitFor()
  const reference = page.getByRole('contentinfo').getByRole('link', { name: 'REST reference' })
  // Below a path of a proxy it leads there too.
  expect(await reference.getAttribute('href')).toBe('docs')
  await reference.click()
  await page.locator('.opblock').first().waitFor()
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
})

test('text stands out from its ground, light and dark', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await openPage(server.url, { colorScheme })
    const ratios = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement)
      const luminance = (name: string) => {
        const digits = style.getPropertyValue(name).trim().slice(1)
        const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
          const part = Number.parseInt(digits.slice(at, at + 2), 16) / 255
          return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
        })
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
      }
      const contrast = (one: string, other: string) => {
        const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
        return (high + 0.05) / (low + 0.05)
      }
      const grounds = ['--back', '--panel', '--sunk']
      const texts = ['--text', '--muted', '--accent', '--bad']
      const pairs: (readonly [string, string])[] = [
        ...grounds.flatMap((ground) => texts.map((text) => [text, ground] as const)),
        ['--on-accent', '--accent'],
        ['--warn', '--warn-back'],
        ['--bad', '--bad-back'],
        ['--panel', '--bad'],
      ]
      return pairs.map(([text, ground]) => ({ pair: `${text} on ${ground}`, ratio: contrast(text, ground) }))
    })
    expect(ratios.filter(({ ratio }) => !(ratio >= 4.5))).toEqual([])
  }
})

test('nothing is asked for in a hidden tab, and all is up to date when it is shown', async () => {
  const page = await openPage(`${server.url}/#/groups/login%3Aana`)
  await page.clock.install()
  await page.reload()
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  const setHidden = (isHidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
      document.dispatchEvent(new Event('visibilitychange'))
    }, isHidden)
  await setHidden(true)
  await page.waitForTimeout(500)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await server.call('POST', 'groups/login%3Aana/items', { member: 'unseen' })
  // Every timer of a minute fires: a page that still polled would request something.
  await page.clock.runFor(60_000)
  expect(asked).toEqual([])
  expect(await page.getByText('unseen').count()).toBe(0)
  await setHidden(false)
  await page.getByText('unseen').waitFor()
})

test('nothing blinks where that is not wanted', async () => {
  const page = await openPage(`${server.url}/#/groups/login%3Aana`, { reducedMotion: 'reduce' })
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  await page.locator('tbody tr').first().waitFor()
  const animation = await onceDrawn(page, 'tr.fresh', (row) => getComputedStyle(row).animationName)
  await server.call('POST', 'groups/login%3Aana/items', { member: 'calm' })
  expect(await animation()).toBe('none')
  // The mark of a new row is gone a moment later, without another item.
  await page.locator('tr.fresh').waitFor({ state: 'detached' })
})

test('the policy is strict, and holds: no text becomes markup, and no script runs that is not ours', async () => {
  const answer = await fetch(server.url)
  expect(answer.headers.get('content-security-policy')).toBe(DASHBOARD_POLICY)
  const page = await openPage(server.url, { said: /TrustedHTML|TrustedScript/ })
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const outcomes = await page.evaluate(() => {
    // Those that are asked for here are no faults.
    addEventListener('securitypolicyviolation', (event) => event.stopImmediatePropagation(), true)
    const attempts = [
      () => {
        document.createElement('div').innerHTML = '<b>x</b>'
      },
      () => {
        document.createElement('script').text = 'window.hacked = 1'
      },
    ]
    return attempts.map((attempt) => {
      try {
        attempt()
        return 'done'
      } catch (error) {
        return (error as Error).name
      }
    })
  })
  expect(outcomes).toEqual(['TypeError', 'TypeError'])
})
