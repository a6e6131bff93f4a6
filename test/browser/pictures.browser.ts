/** Pictures of the pages, light and dark, wide and narrow, for people to look at; and what can be measured of each. */
import type { Page } from 'playwright-core'
import { DESKTOP, openPage, PHONE, picture } from './support/browser'
import { type Server, startWithFile } from './support/server'
import { fillShop, type Life, live, pause } from './support/shop'

const SECONDS = Number(process.env.RECENTN_PICTURE_SECONDS ?? 15)

let server: Server
let life: Life

beforeAll(async () => {
  server = await startWithFile()
  await fillShop(server)
  life = live(server)
})
afterAll(() => life.stop())

const PAGES = {
  groups: '#/groups',
  group: '#/groups/article%3Aespresso-machine',
  queues: '#/queues',
  queue: '#/queues/mail',
  dead: '#/queues/mail-dead',
  feeds: '#/feeds',
  feed: '#/feeds/users',
  key: '#/key',
}

async function visit(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await page.locator('main h1').waitFor()
  await page.waitForFunction(() => document.querySelector('main table, main form') !== null)
  await pause(700)
}

const schemes = ['light', 'dark'] as const
const sizes = { desktop: DESKTOP, phone: PHONE }

describe.each(schemes)('%s', (colorScheme) => {
  test.each(Object.entries(sizes))(
    '%s',
    async (size, viewport) => {
      const page = await openPage(`${server.url}/#/queues/mail`, { colorScheme, viewport })
      await pause(SECONDS * 1000)
      for (const [name, hash] of Object.entries(PAGES)) {
        await visit(page, hash)
        await picture(page, `${name}-${size}-${colorScheme}`)
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect([name, overflow]).toEqual([name, 0])
      }
    },
    120_000,
  )
})
