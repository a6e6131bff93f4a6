/** The built client in Chromium, in a bundle: a call, a refusal, and a watch; and a stream without it. */
import { join } from 'node:path'
import { build } from 'esbuild'
import type * as client from '../../src/client'
import { ROOT, startServer } from '../support/processes'
import { openPage } from './support/browser'
import { startWithFile } from './support/server'

declare const recentn: typeof client

test('calls, is refused and watches', async () => {
  const server = await startWithFile()
  const bundle = await build({
    entryPoints: [join(ROOT, 'dist/src/client/index.js')],
    bundle: true,
    format: 'iife',
    globalName: 'recentn',
    platform: 'browser',
    write: false,
  })
  const page = await openPage(`${server.url}/docs`, { expected: [400] })
  await page.evaluate(`${bundle.outputFiles[0]?.text};globalThis.recentn = recentn`)
  const seen = await page.evaluate(async () => {
    const { groups } = recentn.createClient({ baseUrl: '' })
    const first = await groups.append('a/b', { member: 'ü', occurredAt: new Date(0) })
    const refused = await groups.recent('a/b', { limit: 0 }).catch((error: client.RecentnError) => error.code)
    const watch = groups.watch('a/b')
    await watch.ready
    await groups.append('a/b')
    const { value } = await watch.next()
    await watch.return()
    const { id, group, member, occurredAt } = first
    const told = value?.type === 'item' ? String(value.item.id) : value?.type
    return { id: String(id), isBigint: typeof id === 'bigint', group, member, ms: occurredAt?.getTime(), refused, told }
  })
  expect(seen).toEqual({
    id: '0',
    isBigint: true,
    group: 'a/b',
    member: 'ü',
    ms: 0,
    refused: 'invalid_input',
    told: '1',
  })
})

test("the browser's own EventSource misses nothing, even when it is cut before anything was told", async () => {
  const server = await startWithFile()
  const append = () => server.call('POST', 'groups/g/items', {})
  await append()
  const first = await startServer({ DATABASE_URL: server.databaseUrl })
  const page = await openPage(`${first.url}/docs`, { expected: [0] })
  await page.evaluate(async () => {
    const told: string[] = []
    const events = new EventSource('/v1/groups/g/stream')
    events.addEventListener('item', ({ data }) => told.push(JSON.parse(data).id))
    Object.assign(globalThis, { told })
    await new Promise((resolve) => events.addEventListener('open', resolve))
  })
  await first.stop()
  await append()
  await append()
  const second = await startServer({ DATABASE_URL: server.databaseUrl, PORT: new URL(first.url).port })
  try {
    const isAllTold = () => (globalThis as unknown as { told: string[] }).told.join() === '1,2'
    await page.waitForFunction(isAllTold, undefined, { timeout: 20_000 })
  } finally {
    await page.close()
    await second.stop()
  }
})
