/**
 * Chromium for the browser suites, and pages of it that are watched: errors, violations of the content security policy
 * and requests to anyone else fail the test.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
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

/** A page of a browser of its own, which has never been anywhere. It is closed when the test ends. */
export async function openPage(url: string, { expected = [], said, ...options }: PageOptions = {}): Promise<Page> {
  const folder = mkdtempSync(join(tmpdir(), 'recentn-chromium-'))
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.RECENTN_CHROMIUM ?? '/usr/bin/chromium',
    args: ARGUMENTS,
    headless: true,
    viewport: DESKTOP,
    ...options,
  })
  ended.push(async () => {
    await context.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await watch(context, new URL(url).origin, expected, said)
  const page = context.pages()[0] ?? (await context.newPage())
  page.setDefaultTimeout(10_000)
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
