/**
 * Chromium for the browser suites, and pages of it that are watched: errors, violations of the content security policy
 * and requests to anyone else fail the test.
 */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
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
  ended.push(async () => {
    // An answer that the test makes may be on its way.
    for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })
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

/** Asks until the answer is the wanted one: a page, and those who watch it, may still be on their way there. */
export async function becomes<T>(ask: () => T | Promise<T>, wanted: T, ms = 30_000): Promise<void> {
  const end = performance.now() + ms
  for (;;) {
    const answer = await ask()
    if (isDeepStrictEqual(answer, wanted) || performance.now() > end) return expect(answer).toEqual(wanted)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Watches for such an element. Resolves to what gives the function's word of it when it was drawn, before the paint. */
export async function onceDrawn<T>(page: Page, selector: string, look: (element: HTMLInputElement) => T | Promise<T>) {
  const watch = await page.evaluateHandle<{ word: Promise<T> }>(`({ word: new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      const found = document.querySelector(${JSON.stringify(selector)})
      if (found === null) return
      observer.disconnect()
      resolve((${look})(found))
    })
    observer.observe(document, { attributes: true, childList: true, subtree: true })
  }) })`)
  return () => watch.evaluate(({ word }) => word)
}

/** The sum of all shifts that no press has caused, since the page was opened. */
export const shiftOf = (page: Page) =>
  page.evaluate(async () => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    // A shift is known once its frame is drawn.
    for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame)
    const observer = new PerformanceObserver(() => {})
    observer.observe({ type: 'layout-shift', buffered: true })
    const shifts = observer.takeRecords() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]
    return shifts.reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0)
  })
