/** Requests with a hundred thousand faults: they are answered soon, with the first faults and how many more there are. */
import { readFileSync } from 'node:fs'
import { send } from '../http/support/client'
import { type Attacked, MOST_RESIDENT_MB, startAttacked } from './support/attacked'

const REQUESTS = 8
/** What one request may keep the server busy for, and so others waiting. By the processor's time: the machine has other work. */
const MOST_CPU_MS = 500

/** The processor's time that a process has had; Linux counts in hundredths of a second. */
function cpuMsOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

async function expectQuick({ server, harmOf }: Attacked, attack: () => Promise<unknown>): Promise<void> {
  const before = cpuMsOf(server.process.pid)
  const { failures, peakMb } = await harmOf(attack)
  expect(failures).toEqual([])
  expect(peakMb).toBeLessThan(MOST_RESIDENT_MB)
  expect((cpuMsOf(server.process.pid) - before) / REQUESTS).toBeLessThan(MOST_CPU_MS)
}

const object = (keys: number) => Object.fromEntries(Array.from({ length: keys }, (_, n) => [`f${n}`, 0]))

test.each([
  ['GET', '/livez', '%&'.repeat(100_000), 1],
  ['GET', '/livez', '%&'.repeat(127_000), 1],
  ['GET', '/v1/groups', '&'.repeat(250_000), 1],
  ['GET', '/v1/groups/g/items', 'exclude=%ff&'.repeat(20_000), 1],
  ['GET', '/v1/items', 'group=g&'.repeat(900), 1],
  ['GET', '/v1/groups', Array.from({ length: 999 }, (_, n) => `x${n}=%`).join('&'), 101],
])(
  '%s %s with a query of many faults',
  async (method, path, query, listed) => {
    const attacked = await startAttacked()
    const { url } = attacked
    await expectQuick(attacked, async () => {
      const answers = await Promise.all(
        Array.from({ length: REQUESTS }, () => send(url, method, `${path}?${query}`, {})),
      )
      for (const { status, json } of answers) {
        // A target may be refused for its length alone.
        expect([400, 414, 431]).toContain(status)
        if (status === 400) expect(json.errors).toHaveLength(listed)
      }
    })
  },
  30_000,
)

test.each([
  ['POST', '/v1/groups/g/items', object(80_000), 79_900],
  ['POST', '/v1/queues/q/purge', object(80_000), 79_900],
  ['PUT', '/v1/groups/g', object(80_000), 79_900],
  ['POST', '/v1/items', { items: Array(1000).fill(object(80)) }, 80_900],
  ['POST', '/v1/feeds/f/republish', { keys: Array(1000).fill('') }, 900],
  ['POST', '/v1/queues/q/delete', { receiptHandles: Array(1000).fill(0) }, 900],
])(
  '%s %s with a body of many faults',
  async (method, path, json, more) => {
    const attacked = await startAttacked()
    const { url } = attacked
    await expectQuick(attacked, async () => {
      for (let n = 0; n < REQUESTS; n++) {
        const answer = await send(url, method, path, { json })
        const errors = answer.json.errors as unknown as { detail: string }[]
        expect([answer.status, errors.length]).toEqual([400, 101])
        expect(errors.at(-1)).toEqual({ pointer: '', detail: `has ${more} more faults` })
      }
    })
  },
  30_000,
)
