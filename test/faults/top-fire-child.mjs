// One of the writers of top-fire.ts, until it is killed or its input ends. It prints a line of JSON before each call and one after,
// and a pipe takes a line before the next statement of this script runs.
import { createRequire } from 'node:module'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, groups, members, startedAtMs] = JSON.parse(process.argv[2])
const LOOPS = 4
const store = await openStore({ url, migrate: false })
const { pid } = process
let isOver = false
let calls = 0

const say = (line) => console.log(JSON.stringify(line))
const below = (n) => Math.floor(Math.random() * n)
const memberOf = () => `m${below(members)}`
/** They rise with time, so that full groups continue to change, and many are equal. */
const risingScore = () => Math.floor((Date.now() - startedAtMs) / 250) / 2 + below(8)

process.stdin.on('end', () => {
  isOver = true
})
process.stdin.resume()
say({ ready: true })
await Promise.all(Array.from({ length: LOOPS }, (_, loop) => writing(loop)))
await store.close()

async function writing(loop) {
  for (let n = 0; !isOver; n++) {
    const call = `${pid}-${calls++}`
    const dice = below(10)
    try {
      if (dice < 6) await append(call, dice === 0 ? 2 + below(5) : 1)
      else if (dice < 8) await count(call)
      else await replace(call, `${pid}.${loop}`, n)
    } catch (error) {
      say({ fault: `${error.code ?? error.name}: ${error.message}` })
    }
  }
}

async function append(call, count) {
  const groupOf = () => groups[below(groups.length)]
  const items = Array.from({ length: count }, () => ({ group: groupOf(), member: memberOf(), score: risingScore() }))
  say({ call, kind: 'append', items })
  const [{ group, ...only }] = items
  const payload = { call }
  const answers =
    count === 1
      ? [await store.groups.append(group, { ...only, payload })]
      : await store.groups.appendMany(items.map((item) => ({ ...item, payload })))
  say({ done: call, ids: answers.map(({ id, appended }) => (appended ? String(id) : null)) })
}

async function count(call) {
  const member = memberOf()
  say({ call, kind: 'count', member })
  const item = await store.groups.changeScore('counted', member, 1)
  say({ done: call, ids: [String(item.id)] })
}

/** No other writer has the member, and its scores rise and fall. */
async function replace(call, member, n) {
  const score = n % 2 === 0 ? n : -n
  say({ call, kind: 'replace', member, score })
  const { id, appended } = await store.groups.append('latest', { member, score, keep: 'latest', payload: { call } })
  say({ done: call, ids: [appended ? String(id) : null] })
}
