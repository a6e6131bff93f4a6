// One process of the test of windows. Changes a few groups and reads them, and prints what each page with a tag had in it:
// the same tag must mean the same page in every process. Ends when its input does, with its last pages.
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const [url, capacities, groupMemoryBytes] = JSON.parse(process.argv[2])
const store = await openStore({ url, groupMemoryBytes, sweep: false, publish: false, tick: false, migrate: false })
const { groups } = store
const names = Object.keys(capacities)
const seen = new Map()
const below = (n) => Math.floor(Math.random() * n)
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)

async function read(group, limit) {
  const { tag, items } = await groups.recent(group, { limit })
  const page = items.map(({ id, slot, member, payload, createdAt }) => [`${id}`, slot, member, payload, +createdAt])
  const digest = createHash('sha256').update(JSON.stringify(page)).digest('base64url')
  const key = `${group} ${tag} ${limit}`
  if (seen.get(key) === digest) return
  seen.set(key, digest)
  say({ key, digest })
}

async function change(group) {
  const turn = below(40)
  const item = { member: `m${below(15)}`, payload: { n: below(1e9), by: process.pid } }
  if (turn === 0) await groups.clear(group)
  else if (turn === 1) await groups.drop(group)
  else if (turn === 2) await groups.put(group, capacities[group])
  else if (turn === 3) await groups.eraseMember(item.member)
  else if (turn < 6) {
    const undone = new Error('undone')
    const work = async (tx) => {
      await tx.groups.append(group, item)
      if (turn === 4) throw undone
    }
    await store.transaction(work).catch((error) => {
      if (error !== undone) throw error
    })
  } else await groups.append(group, item)
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
