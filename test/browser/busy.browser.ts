/**
 * A live group that is busy: how often its page is drawn, and that its memory stays. `RECENTN_BUSY_MINUTES=10` takes longer, and
 * prints what it costs, too.
 */
import type { CDPSession } from 'playwright-core'
import { openPage } from './support/browser'
import { startWithFile } from './support/server'
import { pause } from './support/shop'

const MINUTES = Number(process.env.RECENTN_BUSY_MINUTES ?? 0.5)
const EVERY_MS = 1000 / 30

async function figuresOf(devtools: CDPSession) {
  // Twice: what the first one finalizes, the second one frees.
  for (let times = 0; times < 2; times++) await devtools.send('HeapProfiler.collectGarbage')
  const { metrics } = await devtools.send('Performance.getMetrics')
  const of = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN
  return {
    cpuSeconds: of('TaskDuration'),
    processSeconds: of('ProcessTime'),
    heapBytes: of('JSHeapUsedSize'),
    nodes: of('Nodes'),
  }
}

test('30 items a second are drawn three times a second, and take no more memory later', async () => {
  const server = await startWithFile()
  await server.call('PUT', 'groups/busy', { capacity: 100 })
  await server.call('POST', 'items', { items: [{ group: 'busy', payload: 'the table is there' }] })
  const page = await openPage(`${server.url}/#/groups/busy`)
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  // The items wait for the settings, which stand above them.
  await page.locator('tbody tr').waitFor()
  await page.evaluate(() => {
    const counts = Object.assign(window, { draws: 0 })
    const drawn = () => counts.draws++
    new MutationObserver(drawn).observe(document.querySelector('tbody') as Element, { childList: true })
  })
  const drawn = () => page.evaluate(() => (window as unknown as { draws: number }).draws)
  const devtools = await page.context().newCDPSession(page)
  // The time that the thread ran, not the time that passed: other tests use the cores too.
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const beganAt = performance.now()
  let sent = 0
  const appendUntil = async (endMs: number) => {
    while (performance.now() < beganAt + endMs) {
      const due = Math.floor((performance.now() - beganAt) / EVERY_MS) - sent
      const items = Array.from({ length: due }, () => {
        const payload = { from: 'search', device: 'phone', seconds: ++sent % 240 }
        return { group: 'busy', member: `user-${sent % 50}`, payload }
      })
      if (due > 0) await server.call('POST', 'items', { items })
      await pause(beganAt + (sent + 1) * EVERY_MS - performance.now())
    }
  }
  const endMs = MINUTES * 60_000
  const firstMs = Math.min(endMs / 3, 60_000)
  await appendUntil(firstMs)
  const [first, from, draws] = [await figuresOf(devtools), performance.now(), await drawn()]
  for (let ms = firstMs + 60_000; ms < endMs; ms += 60_000) {
    await appendUntil(ms)
    process.stdout.write(`${Math.round(ms / 60_000)} min: ${JSON.stringify(await figuresOf(devtools))}\n`)
  }
  await appendUntil(endMs)
  const seconds = (performance.now() - from) / 1000
  const last = await figuresOf(devtools)
  const share = (last.cpuSeconds - first.cpuSeconds) / seconds
  const rate = sent / (endMs / 1000)
  const drawsASecond = ((await drawn()) - draws) / seconds
  if (process.env.RECENTN_BUSY_MINUTES)
    process.stdout.write(`${JSON.stringify({ first, last, seconds, share, rate, drawsASecond })}\n`)
  expect(rate).toBeGreaterThan(25)
  expect(drawsASecond).toBeGreaterThan(1)
  expect(drawsASecond).toBeLessThan(4)
  expect(last.heapBytes - first.heapBytes).toBeLessThan(1_000_000)
  expect(last.nodes - first.nodes).toBeLessThan(1000)
}, 900_000)
