/**
 * The door under fire: processes that move what plain SQL writes are killed at random moments and started again, while programs
 * write in transactions, of which some roll back. Judged by the tables, read without the store: nothing is lost, nothing is there
 * twice, and the rows of each writer are in their order.
 */
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { describeEngine } from '../support/engines'
import { pause } from '../support/timing'
import { useStore } from '../support/use-store'
import { Processes } from './poll-processes'

const KILLS = Number(process.env.RECENTN_DOOR_KILLS ?? 20)
const PROCESSES = 3
const WRITERS = 4
/** A writer stops before its group, which keeps 10,000, is full. */
const MOST_ROWS = 9000
const KILL_EVERY_MS = 500
const QUEUE = 'door-fire'
const GROUP = 'door-fire'

jest.setTimeout(120_000 + KILLS * 10_000)

/** The rows that a writer has committed, as their texts. */
async function write(url: string, writer: number, isOn: () => boolean): Promise<string[]> {
  const connection = await createConnection(url.replace(/^mariadb:/, 'mysql:'))
  const committed: string[] = []
  try {
    for (let n = 0; isOn() && committed.length < MOST_ROWS; n++) {
      const rows = Array.from({ length: 1 + ((n * 7) % 40) }, (_, row) => JSON.stringify([writer, n, row]))
      await connection.beginTransaction()
      const [sends, appends] = [rows.map((row) => [QUEUE, row]), rows.map((row) => [`${GROUP}:${writer}`, row])]
      await connection.query('INSERT INTO recentn_sends (queue, body) VALUES ?', [sends])
      await connection.query('INSERT INTO recentn_appends (group_key, payload) VALUES ?', [appends])
      if (n % 5 === 4) await connection.rollback()
      else {
        await connection.commit()
        committed.push(...rows)
      }
      await pause(10 * Math.random())
    }
  } finally {
    connection.destroy()
  }
  return committed
}

export function describeDoorFire(engine: 'mariadb' | 'mysql'): void {
  describeEngine(engine, `${PROCESSES} processes at the door, killed ${KILLS} times`, () => {
    const at = useStore(engine, 'door-fire', { sweep: false, publish: false, tick: false })

    it('lose nothing, move nothing twice, and keep the order of each writer', async () => {
      const { queues, policies, dataSource } = at.store
      await queues.put(QUEUE)
      await policies.put(GROUP, { capacity: 10_000, mode: 'history' })
      const columnOf = async (sql: string) =>
        ((await dataSource.query(sql)) as RowDataPacket[]).map(({ text }) => String(text))
      const processes = new Processes([at.url], () => {}, 'door-fire-child.mjs')
      let isOn = true
      let committed: string[][] = []
      try {
        await processes.start(PROCESSES)
        const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(at.url, writer, () => isOn)))
        try {
          while (processes.kills < KILLS) {
            await pause(KILL_EVERY_MS * (0.2 + 1.6 * Math.random()))
            processes.kill([])
          }
        } finally {
          isOn = false
          committed = await writing
        }
        const left = 'SELECT COUNT(*) AS text FROM recentn_sends UNION ALL SELECT COUNT(*) FROM recentn_appends'
        while ((await columnOf(left)).some((count) => count !== '0')) await pause(100)
        await processes.end('SIGTERM')
      } finally {
        await processes.end('SIGKILL')
      }

      expect(processes.crashes).toEqual([])
      const found = {
        sent: await columnOf('SELECT body AS text FROM recentn_queue_messages ORDER BY sort_major, sort_minor, id'),
        appended: await columnOf(
          `SELECT payload AS text FROM recentn_items WHERE group_key LIKE '${GROUP}:%' ORDER BY group_key, id`,
        ),
      }
      for (const [what, rows] of Object.entries(found)) {
        const each = committed.map((_, writer) => rows.filter((row) => JSON.parse(row)[0] === writer))
        expect([what, each]).toEqual([what, committed])
      }
      expect(committed.flat().length).toBeGreaterThan(KILLS * WRITERS)
      process.stdout.write(`${engine}: ${committed.flat().length} rows through the door, ${processes.kills} kills\n`)
    })
  })
}
