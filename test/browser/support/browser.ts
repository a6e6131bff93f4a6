/**
 * Chromium for the browser suites, and pages of it that are watched: errors, violations of the content security policy
 * and requests to anyone else fail the test.
 */
import { join } from 'node:path'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { ROOT } from '../../support/processes'

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 360, height: 740 }

export interface PageOptions extends BrowserContextOptions {
  /** Answers with these statuses are meant to come. */
  expected?: readonly number[]
  /** The console may say this. */
  said?: RegExp
}

const ended: (() => Promise<void> | void)[] = []
const faults: string[] = []

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
  expect(faults.splice(0)).toEqual([])
})

let browser: Promise<Browser> | undefined

/** One for the test file: a browser takes seconds to start, a context of it milliseconds. */
function fileBrowser(): Promise<Browser> {
  browser ??= chromium.launch({
    executablePath: process.env.RECENTN_CHROMIUM ?? '/usr/bin/chromium',
    args: ARGUMENTS,
    headless: true,
  })
  return browser
}

afterAll(async () => {
  await (await browser)?.close()
})

/** A page in a new context, with no cookies, storage or cache from elsewhere. It is closed when the test ends. */
export async function openPage(url: string, { expected = [], said, ...options }: PageOptions = {}): Promise<Page> {
  const context = await (await fileBrowser()).newContext({ viewport: DESKTOP, ...options })
  ended.push(() => context.close())
  await watch(context, new URL(url).origin, expected, said)
  const page = await context.newPage()
  // For calls that hang; a test that promises a time says so itself.
  page.setDefaultTimeout(30_000)
  await page.goto(url)
  return page
}

async function watch(
  context: BrowserContext,
  origin: string,
  expected: readonly number[],
  said?: RegExp,
): Promise<void> {
  await context.exposeFunction('tellFault', (fault: string) => faults.push(fault))
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
      ;(window as unknown as { tellFault(fault: string): void }).tellFault(
        `violates ${violatedDirective}: ${blockedURI} ${sample}`,
      )
    })
  })
  context.on('weberror', (error) => faults.push(`uncaught: ${error.error().stack}`))
  context.on('console', (message) => {
    const status = /server responded with a status of (\d+)/.exec(message.text())?.[1]
    const isMeant = status !== undefined && expected.includes(Number(status))
    const isAway = expected.includes(0) && /net::ERR_/.test(message.text())
    if (message.type() !== 'error' && message.type() !== 'warning') return
    if (!isMeant && !isAway && !said?.test(message.text()))
      faults.push(`console ${message.type()}: ${message.text()} (${message.location().url})`)
  })
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`asked someone else: ${request.url()}`)
  })
}

/** Leaves a picture for people to look at in `.cache/screenshots`. */
export async function picture(page: Page, name: string, options: { fullPage?: boolean } = {}): Promise<void> {
  await page.screenshot({ path: join(ROOT, '.cache', 'screenshots', `${name}.png`), ...options })
}

/** The sum of all shifts that no press has caused, since the page was opened. */
export const shiftOf = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
            if (!entry.hadRecentInput) sum += entry.value
          }
        }).observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => resolve(sum), 200)
      }),
  )
