/** Pictures of the pages, light and dark, wide and narrow, for people to look at. None is wider than its window. */
import type { Page } from 'playwright-core'
import { DESKTOP, openPage, PHONE, picture, shiftOf } from './support/browser'
import { type Server, startWithFile } from './support/server'
import { fillShop, live, pause } from './support/shop'

/** How long the chart collects samples before the first picture; scripts/picture.mjs asks for more. */
const SECONDS = Number(process.env.RECENTN_PICTURE_SECONDS ?? 3)

const PAGES = {
  groups: '#/groups',
  group: '#/groups/article%3Aespresso-machine',
  member: '#/members/ana',
  policies: '#/policies',
  policy: '#/policies/article%3A',
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
  await page.locator('main table, main .facts, main .key-form').first().waitFor()
  await page.waitForFunction(() => {
    const isDrawn = [...document.querySelectorAll('.chart')].every((chart) => chart.querySelector('canvas'))
    // A part that is still loading says so.
    return isDrawn && document.querySelector('main .late') === null
  })
  // The chart is sized and the last state painted.
  await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))))
}

/** Forms, which a press opens: the place, and what is pressed. */
const FORMS = {
  'group-settings': ['#/groups/article%3Alinen-shirt', 'Change settings'],
  'policy-new': ['#/policies', 'New policy'],
  'policy-settings': ['#/policies/login%3A', 'Change settings'],
} as const

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
      for (const [name, [hash, pressed]] of Object.entries(FORMS)) {
        await visit(page, hash)
        await page.getByRole('button', { name: pressed }).click()
        await page.locator('dialog.form').waitFor()
        await picture(page, `${name}-${size}-${colorScheme}`)
        overflows[name] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      }
      const names = [...Object.keys(PAGES), ...Object.keys(FORMS)]
      expect(overflows).toEqual(Object.fromEntries(names.map((name) => [name, 0])))
    } finally {
      await life.stop()
    }
  },
  180_000,
)

/** Pages that are open at once. */
const AT_ONCE = 5
const MORE_PAGES = { overview: '', flight: '#/queues/mail?state=in-flight', blocked: '#/queues/mail?state=blocked' }

test.each([
  ['desktop', DESKTOP],
  ['phone', PHONE],
] as const)(
  'nothing moves under a reader of a live page: %s',
  async (_, viewport) => {
    const life = live(server)
    const shifts: Record<string, number> = {}
    const watched = async ([name, hash]: readonly [string, string]) => {
      const page = await openPage(`${server.url}/${hash}`, { viewport })
      await page.locator('main h1').waitFor()
      // Two polls and the stream of a group.
      await pause(5000)
      shifts[name] = await shiftOf(page)
      await page.close()
    }
    try {
      const all = Object.entries({ ...MORE_PAGES, ...PAGES })
      while (all.length > 0) await Promise.all(all.splice(0, AT_ONCE).map(watched))
    } finally {
      await life.stop()
    }
    expect(Object.entries(shifts).filter(([, shift]) => shift >= 0.1)).toEqual([])
  },
  180_000,
)
