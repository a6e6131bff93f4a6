// node uses-import.mjs URL…: the package as an ES module sees it, and an append and a read on each database.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import * as all from 'recentn'
import { attachStore, createRouter, openStore, RecentnError } from 'recentn'
import { fromBetterSqlite3 } from 'recentn/adapters'
import { RecentnError as ClientError } from 'recentn/client'
import manifest from 'recentn/package.json' with { type: 'json' }
import { testStore } from 'recentn/testing'
import { entities, migrations, RecentRepository } from 'recentn/typeorm'

const required = createRequire(import.meta.url)('recentn')
// Names that Node adds to a CommonJS module, some versions more than others.
const added = ['default', 'module.exports', '__esModule']
const names = Object.keys(all).filter((name) => !added.includes(name))
assert.deepEqual(names.sort(), Object.keys(required).sort(), 'import and require show the same names')
assert.equal(openStore, required.openStore, 'both are the same module')
for (const one of [attachStore, createRouter, fromBetterSqlite3, RecentRepository, RecentnError])
  assert.equal(typeof one, 'function')
assert.ok(entities.length > 10 && migrations.length > 0)
assert.equal(manifest.name, 'recentn')
assert.equal(ClientError, RecentnError, 'one class of errors')
assert.equal(required.RecentnError, createRequire(import.meta.url)('recentn/client').RecentnError)
await assert.rejects(import('recentn/dist/src/store.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' })

if (process.argv.includes('sqlite::memory:')) {
  const store = await testStore()
  await store.queues.ensure('mail')
  await store.queues.send('mail', 1, { delaySeconds: 300 })
  await store.clock.advance('5 min')
  assert.equal((await store.queues.receive('mail')).length, 1)
  await store.close()
}

for (const url of process.argv.slice(2)) {
  const store = await openStore({ url })
  const { id } = await store.groups.append('article:42', { member: 'user-7', payload: { from: 'search' } })
  const { items, totalAppended } = await store.groups.recent('article:42')
  assert.deepEqual([id, totalAppended, items[0].member, items[0].payload], [0n, 1n, 'user-7', { from: 'search' }])
  assert.equal(JSON.parse(JSON.stringify(await store.groups.recent('article:42'))).items[0].id, '0')
  await assert.rejects(store.groups.append('', {}), (error) => error instanceof RecentnError && error.status === 400)
  await store.close()
}
