/**
 * Stores that are not closed. In jest, a file that leaves a timer or a socket behind fails (test/support/environment.cjs). This one
 * leaves stores with workers, so that it passes only where they are closed at its end.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testStore } from 'recentn/testing'
import { ROOT } from '../support/processes'

test('a worker, a consumer and a poll that are not stopped', async () => {
  const store = await testStore()
  await store.queues.ensure('mail')
  store.queues.work('mail', () => {})
  store.feeds.consume('users', 'index', () => {})
  await store.groups.append('g', {})
})

test('node --test ends, too', () => {
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.cache', 'left-open-')) // within the project, where `recentn` is found
  try {
    const file = join(folder, 'app.test.mjs')
    writeFileSync(
      file,
      `import assert from 'node:assert/strict'
import test from 'node:test'
import { testStore } from 'recentn/testing'

test('forgets to close', async () => {
  const store = await testStore()
  await store.queues.ensure('mail')
  let handled = 0
  store.queues.work('mail', () => void handled++)
  await store.queues.send('mail', 1)
  await store.drain('mail')
  assert.equal(handled, 1)
})
`,
    )
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { status, signal, stdout } = spawnSync(process.execPath, ['--test', file], {
      env,
      encoding: 'utf8',
      timeout: 100_000,
    })
    expect({ status, signal, stdout }).toMatchObject({ status: 0, signal: null })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
