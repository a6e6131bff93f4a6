// node refused.mjs WORDS: SQLite can't be had here, and a user that asks for it learns what to do.
import assert from 'node:assert/strict'
import { openStore, RecentnError } from 'recentn'

const [words] = process.argv.slice(2)
await assert.rejects(openStore({ url: 'sqlite::memory:' }), (error) => {
  assert.ok(error instanceof RecentnError)
  assert.equal(error.code, 'database_refused')
  assert.ok(error.message.includes(words), error.message)
  return true
})
