// node uses-client.mjs: `@recentn/client` alone, as an ES module and as CommonJS, and a call of each.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import * as whole from '@recentn/client'
import * as calls from '@recentn/client/calls'
import manifest from '@recentn/client/package.json' with { type: 'json' }

const require = createRequire(import.meta.url)
const required = { whole: require('@recentn/client'), calls: require('@recentn/client/calls') }
assert.equal(manifest.name, '@recentn/client')
assert.deepEqual(
  Object.keys(whole).sort(),
  Object.keys(required.whole).sort(),
  'import and require show the same names',
)
assert.deepEqual(Object.keys(calls).sort(), Object.keys(required.calls).sort())
assert.equal(whole.RecentnError, calls.RecentnError, 'one class of errors')
assert.equal(required.whole.RecentnError, required.calls.RecentnError)
await assert.rejects(import('@recentn/client/esm/client/format.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' })

const answers = {
  '/v1/groups/g/items': [
    200,
    { group: 'g', capacity: 1, mode: 'history', totalAppended: '7', items: [], nextBefore: null },
  ],
  '/v1/groups/forbidden/items': [403, { code: 'forbidden', detail: 'No' }],
}
const fetch = async (url) => {
  const [status, body] = answers[new URL(url).pathname]
  const type = status === 200 ? 'application/json' : 'application/problem+json'
  return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': type } })
}
for (const { createClient, RecentnError } of [whole, calls, required.whole, required.calls]) {
  const client = createClient({ baseUrl: 'https://recentn.test', fetch })
  assert.equal((await client.groups.recent('g')).totalAppended, 7n)
  const refused = await client
    .group('forbidden')
    .recent()
    .catch((error) => error)
  assert.ok(refused instanceof RecentnError)
  assert.deepEqual([refused.code, refused.status, refused.message], ['forbidden', 403, 'No'])
  assert.throws(() => createClient({ baseUrl: 'nowhere' }), {
    name: 'RecentnError',
    code: 'invalid_input',
    status: 400,
  })
}
for (const { createClient, UnrecoverableError } of [whole, required.whole]) {
  assert.equal(new UnrecoverableError('never').name, 'UnrecoverableError')
  const signal = AbortSignal.abort()
  await createClient({ baseUrl: 'https://recentn.test', fetch })
    .queues.work('mail', () => {}, { signal })
    .stop()
}
