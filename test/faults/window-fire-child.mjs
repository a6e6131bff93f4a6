// One process of the test of windows. Changes a few groups and reads them, and prints what each page with a tag had in it (the
// same tag must mean the same page in every process), and between which times it was asked for. Ends when its input does.
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, settings, lasting, groupMemoryBytes] = JSON.parse(process.argv[2])
// Only a process without a memory sweeps.
const sweep = groupMemoryBytes === 0
const store = await openStore({ url, groupMemoryBytes, sweep, publish: false, tick: false, migrate: false })
const { groups, policies } = store
const names = Object.keys(settings)
const seen = new Map()
const below = (n) => Math.floor(Math.random() * n)
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
/** Microseconds, by the clock of all processes of the machine. */
const now = () => Number(process.hrtime.bigint() / 1000n)

async function read(group, limit) {
  const begunAt = now()
  const { tag, items, totalAppended } = await groups.recent(group, { limit })
  const endedAt = now()
  const page = items.map(({ id, slot, member, payload, createdAt }) => [`${id}`, slot, member, payload, +createdAt])
  const digest = createHash('sha256').update(JSON.stringify(page)).digest('base64url')
  const key = `${group} ${tag} ${limit}`
  if (lasting.includes(group)) say({ group, begunAt, endedAt, read: Number(totalAppended) })
  if (seen.get(key) === digest) return
  seen.set(key, digest)
  say({ key, digest })
}

async function append(group, item) {
  const begunAt = now()
  const several = below(4) === 0 ? 3 : 1
  const appended = await groups.appendMany(Array.from({ length: several }, () => ({ group, ...item })))
  const total = Number(appended.at(-1).id) + 1
  if (lasting.includes(group)) say({ group, begunAt, endedAt: now(), appended: total })
}

async function change(group) {
  const turn = below(40)
  const item = { member: `m${below(15)}`, payload: { n: below(1e9), by: process.pid } }
  if (turn === 0) await groups.clear(group)
  else if (turn === 1 && !lasting.includes(group)) await groups.drop(group)
  else if (turn === 2 && settings[group] !== null) await groups.put(group, settings[group])
  else if (turn === 3) await groups.eraseMember(item.member)
  else if (turn < 6) {
    const undone = new Error('undone')
    const work = async (tx) => {
      await tx.groups.append(group, item)
      await tx.groups.recent(group)
      if (turn === 4) throw undone
    }
    await store.transaction(work).catch((error) => {
      if (error !== undone) throw error
    })
  } else if (turn < 10) {
    const { items } = await groups.recent(group)
    if (items.length > 0) await groups.remove(group, items[below(items.length)].id)
  } else if (turn === 10 && settings[group] === null) {
    const mode = below(2) === 0 ? 'history' : 'distinct'
    await policies.put(group, { capacity: 5 + below(40), mode, ttlSeconds: below(2) === 0 ? null : 1 })
  } else await append(group, item)
}

let isEnding = false
process.stdin.resume().on('end', () => {
  isEnding = true
})
const loop = async () => {
  while (!isEnding) {
    const group = names[below(names.length)]
    if (below(4) === 0) await change(group)
    else await read(group, below(2) ? 5 : 20)
  }
}
await Promise.all(Array.from({ length: 6 }, loop))
for (const group of names) await read(group, 20)
say({ reads: seen.size })
await store.close()
