/** Pictures of the pages, light and dark, wide and narrow, for people to look at. None is wider than its window. */
import type { Page } from 'playwright-core'
import { DESKTOP, openPage, PHONE, picture } from './support/browser'
import { type Server, startWithFile } from './support/server'
import { fillShop, live, pause } from './support/shop'

/** How long is looked at the chart before. */
const SECONDS = Number(process.env.RECENTN_PICTURE_SECONDS ?? 12)

const PAGES = {
  groups: '#/groups',
  group: '#/groups/article%3Aespresso-machine',
  queues: '#/queues',
  dead: '#/queues/mail-dead',
  queue: '#/queues/mail',
  feeds: '#/feeds',
  feed: '#/feeds/users',
  key: '#/key',
}

let server: Server

beforeAll(async () => {
  server = await startWithFile()
  await fillShop(server)
})

async function visit(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await page.locator('main h1').waitFor()
  await page.locator('main table, main form').first().waitFor()
  // Until the transitions are over and the chart is drawn.
  await pause(700)
}

test.each([
  ['desktop', 'light', DESKTOP],
  ['desktop', 'dark', DESKTOP],
  ['phone', 'light', PHONE],
  ['phone', 'dark', PHONE],
] as const)(
  '%s, %s',
  async (size, colorScheme, viewport) => {
    const life = live(server)
    try {
      const page = await openPage(`${server.url}/#/queues/mail`, { colorScheme, viewport })
      await pause(SECONDS * 1000)
      const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      expect(back).toBe(colorScheme === 'dark' ? 'rgb(16, 20, 21)' : 'rgb(246, 247, 247)')
      const overflows: Record<string, number> = {}
      for (const [name, hash] of Object.entries(PAGES)) {
        await visit(page, hash)
        await picture(page, `${name}-${size}-${colorScheme}`)
        overflows[name] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      }
      expect(overflows).toEqual(Object.fromEntries(Object.keys(PAGES).map((name) => [name, 0])))
    } finally {
      await life.stop()
    }
  },
  180_000,
)
