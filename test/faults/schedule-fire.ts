/**
 * Schedules under fire: processes that all send the ticks of the same schedules, one a second, are killed at random and started
 * again. Judged by the messages in the table, read without the store.
 */
import path from 'node:path'
import { describeEngine } from '../support/engines'
import { useStore } from '../support/use-store'
import { linesOf } from './ledger-lines'
import { Processes } from './poll-processes'

const SECONDS = Number(process.env.RECENTN_FIRE_SECONDS ?? 8)
const PROCESSES = 4
const KILL_EVERY_MS = 500
const SCHEDULES = {
  cron: { queue: 'a', cron: '* * * * * *', timeZone: 'Europe/Berlin', body: 1, messageGroup: 'g' },
  every: { queue: 'a', everySeconds: 1, body: { text: 'x'.repeat(1000) } },
  other: { queue: 'b', everySeconds: 1, body: null },
}

jest.setTimeout(120_000 + SECONDS * 5000)

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export function describeScheduleFire(engine: 'mariadb' | 'mysql'): void {
  describeEngine(engine, `${PROCESSES} processes with the same schedules, killed at random`, () => {
    const at = useStore(engine, 'schedule-fire', { tick: false, sweep: false, publish: false })

    it(`send each tick of ${SECONDS} seconds once`, async () => {
      const { queues, schedules: all, dataSource } = at.store
      for (const queue of ['a', 'b']) await queues.put(queue)
      const file = path.join(at.folder, 'ledger')
      const args = [at.url, file, JSON.stringify(SCHEDULES)]
      const processes = new Processes(args, () => {}, 'schedule-fire-child.mjs')
      try {
        await processes.start(PROCESSES)
        const began = performance.now()
        while (performance.now() - began < SECONDS * 1000 || processes.kills < 4) {
          await sleep(KILL_EVERY_MS * (0.5 + Math.random()))
          processes.kill([])
        }
        // Every process may be dead now: whoever starts again sends what is due.
        const until = Date.now()
        const isBehind = async () => {
          const { schedules } = await all.list()
          return schedules.length < 3 || schedules.some(({ nextTickAt }) => nextTickAt.getTime() <= until)
        }
        while (await isBehind()) await sleep(100)
        await processes.end('SIGTERM')
      } finally {
        await processes.end('SIGKILL')
      }

      const lines = linesOf(file)
      expect(lines.filter(([word]) => word === 'fault')).toEqual([])
      expect(processes.crashes).toEqual([])
      expect(processes.kills).toBeGreaterThan(3)
      // Created once: whoever puts a schedule again leaves its ticks as they are.
      expect(lines.map((line) => line.slice(0, 2).join(' ')).sort()).toEqual(
        Object.keys(SCHEDULES).map((name) => `created ${name}`),
      )
      const rows: { attributes: string }[] = await dataSource.query('SELECT attributes FROM recentn_queue_messages')
      const sent = new Map<string, number[]>(Object.keys(SCHEDULES).map((name) => [name, []]))
      for (const { attributes } of rows) {
        const { 'recentn.schedule': name, 'recentn.tick': tick } = JSON.parse(attributes)
        sent.get(name)?.push(Date.parse(tick))
      }
      for (const { schedule, createdAt, nextTickAt } of (await all.list()).schedules) {
        const first = Math.floor(createdAt.getTime() / 1000) * 1000 + 1000
        const length = (nextTickAt.getTime() - first) / 1000
        const expected = Array.from({ length }, (_, n) => new Date(first + n * 1000).toISOString())
        const ticks = (sent.get(schedule) ?? []).sort((a, b) => a - b).map((tick) => new Date(tick).toISOString())
        expect([schedule, ticks]).toEqual([schedule, expected])
        expect(length).toBeGreaterThanOrEqual(SECONDS - 2)
      }
      expect([...sent.values()].flat()).toHaveLength(rows.length)
      process.stdout.write(`${engine}: ${rows.length} messages of ${sent.size} schedules, ${processes.kills} kills\n`)
    })
  })
}
