// Does memory stay flat? Appends a million items over 100,000 groups through the built library and compares what is
// used after garbage collection at 200,000 items and at the end. It may grow by less than 30 MB.
// node --expose-gc test/races/memory.mjs [DATABASE_URL]      (a fresh SQLite file when no URL is given)
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'

const ITEMS = 1_000_000
const WARM = 200_000
const GROUPS = 100_000
const BATCH = 500
const LIMIT_MB = 30

if (typeof globalThis.gc !== 'function') {
  console.error('Run it with: node --expose-gc test/races/memory.mjs [DATABASE_URL]')
  process.exit(2)
}
const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

const folder = process.argv[2] ? null : await mkdtemp(path.join(tmpdir(), 'recentn-memory-'))
try {
  process.exitCode = await run(process.argv[2] ?? `sqlite:${path.join(folder, 'memory.db')}`)
} finally {
  if (folder) await rm(folder, { recursive: true, force: true })
}

async function run(url) {
  const store = await openStore({ url })
  try {
    const started = performance.now()
    await append(store, 0, WARM)
    const warm = await settled()
    print(WARM, warm, started)
    await append(store, WARM, ITEMS)
    const end = await settled()
    print(ITEMS, end, started)
    return verdict(warm, end)
  } finally {
    await store.close()
  }
}

async function append(store, from, to) {
  for (let first = from; first < to; first += BATCH) {
    const items = Array.from({ length: BATCH }, (_, at) => {
      // A large odd step visits all groups in an order that no index likes.
      const n = first + at
      return { group: `memory:${(n * 7_919) % GROUPS}`, member: `member-${n % 50_000}`, payload: { n, of: 'memory' } }
    })
    await store.groups.appendMany(items)
  }
}

/** After two collections, with what finalizers release in between. */
async function settled() {
  for (let round = 0; round < 3; round++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: (heapUsed + external) / 2 ** 20, rss: rss / 2 ** 20 }
}

function print(items, used, started) {
  const seconds = (performance.now() - started) / 1000
  const rate = Math.round(items / seconds)
  console.log(
    `${items} items: heap and external ${used.heap.toFixed(1)} MB, resident ${used.rss.toFixed(1)} MB ` +
      `(${seconds.toFixed(0)} s, ${rate} items/s)`,
  )
}

function verdict(warm, end) {
  const heap = end.heap - warm.heap
  const rss = end.rss - warm.rss
  const flat = heap < LIMIT_MB && rss < LIMIT_MB
  console.log(
    `grew by ${heap.toFixed(1)} MB heap, ${rss.toFixed(1)} MB resident: ${flat ? 'flat' : `over ${LIMIT_MB} MB`}`,
  )
  return flat ? 0 : 1
}
