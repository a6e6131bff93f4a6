/**
 * The programs of the pages as apps that take orders and are killed, judged from outside by another driver: an order, its
 * message and its line of history are all there, or none of them.
 */
import { createConnection } from 'mysql2/promise'
import type { Block } from '../../docs/support/pages'
import { describeEngine, type EngineName, freshDatabase } from '../../support/engines'
import { type Script, spawnScript } from '../../support/processes'
import { mysqlUri } from '../../support/servers/server'
import { sessionsOf } from '../../support/sessions'
import { eventually } from '../../support/timing'
import { PROGRAMS, writeProgram } from './programs'

const ORDERS = 500
const KILLS = 5
/** Each tenth order is over the program's limit, and rolled back. */
const LIMIT = 100_000

interface Order {
  id: number
  customer: string
  cents: number
}

interface Line {
  begun?: number
  done?: number
  undone?: number
  printed?: string[]
}

/** Five orders for each customer, whose group keeps ten items. */
const orders: readonly Order[] = Array.from({ length: ORDERS }, (_, index) => ({
  id: index + 1,
  customer: `customer-${index % 100}`,
  cents: index % 10 === 0 ? LIMIT + 1 : 4_200,
}))
const wanted = orders.filter(({ cents }) => cents <= LIMIT).map(({ id }) => id)

const SERVERS = ['mariadb', 'mysql'] as const

/** A run on all engines tries each app on one of the servers, because it takes ten seconds; a run on one server tries all. */
export function describeApps(): void {
  for (const [turn, engine] of SERVERS.entries()) {
    const inTurns = process.env.RECENTN_TEST_ENGINES === 'all'
    const mine = PROGRAMS.filter((_, index) => !inTurns || index % SERVERS.length === turn)
    describeEngine(engine, 'apps of the pages', () => {
      it.each(mine.map((program) => [program.page, program] as const))(
        '%s',
        (_page, program) => takeAll(engine, program),
        300_000,
      )
    })
  }
}

async function takeAll(engine: EngineName, program: Block): Promise<void> {
  const { url, drop } = await freshDatabase(engine)
  const judge = await createConnection({ uri: mysqlUri(url) })
  const rows = async <T>(sql: string): Promise<T[]> => (await judge.query(sql))[0] as T[]
  const begin = (...given: string[]) =>
    spawnScript('test/adapters/support/take-orders.mjs', [writeProgram(program), ...given], {
      DATABASE_URL: mysqlUri(url),
    })
  /** The server has ended its work for a process that was killed. */
  const alone = async () => {
    const sessions = await sessionsOf((sql) => rows(sql))
    return sessions.filter(({ database }) => database === new URL(url).pathname.slice(1)).length === 1
  }
  const committed = async () => (await rows<Order>('SELECT id FROM orders ORDER BY id')).map(({ id }) => id)

  try {
    await judge.query('CREATE TABLE orders (id int PRIMARY KEY, customer varchar(100) NOT NULL, cents int NOT NULL)')
    const undone = new Set<number>()
    let inFlight = 0
    for (let kills = 0; kills <= KILLS; kills++) {
      const there = new Set(await committed())
      const left = orders.filter(({ id }) => !there.has(id) && !undone.has(id))
      const app = begin(JSON.stringify(left))
      if (kills < KILLS) inFlight += await killedAfter(app, Math.floor(left.length / (KILLS + 1 - kills)))
      else await app.finished
      for (const line of app.lines as Line[]) if (line.undone !== undefined) undone.add(line.undone)
      await eventually(20_000, 'the connections of the app are closed', alone)
      // Whatever of the three there is, there is for the same orders.
      const ids = await committed()
      const messages = await rows<{ body: string }>('SELECT body FROM recentn_queue_messages')
      const items = await rows<{ payload: string }>('SELECT payload FROM recentn_items')
      expect(messages.map(({ body }) => JSON.parse(body).order).sort(byNumber)).toEqual(ids)
      expect(items.map(({ payload }) => JSON.parse(payload).order).sort(byNumber)).toEqual(ids)
    }
    expect(await committed()).toEqual(wanted)
    expect([...undone].sort(byNumber)).toEqual(orders.filter(({ cents }) => cents > LIMIT).map(({ id }) => id))
    // A kill that found nothing begun would have proved nothing.
    expect(inFlight).toBeGreaterThanOrEqual(KILLS)
    const worker = begin()
    const left = async () => (await rows('SELECT id FROM recentn_queue_messages')).length
    await eventually(60_000, 'each mail is sent', async () => (await left()) === 0)
    await worker.stop('SIGKILL')
    // A mail is printed before it is acknowledged.
    expect(worker.lines.length).toBeGreaterThanOrEqual(wanted.length)
  } finally {
    await judge.end()
    await drop()
  }
}

const byNumber = (a: number, b: number) => a - b

/** Kills the app when it has ended so many calls. Resolves to the number of those that it had begun and not ended. */
async function killedAfter(app: Script, ended: number): Promise<number> {
  for (let count = 0; count < ended; ) {
    const { begun } = (await app.next()) as Line
    if (begun === undefined) count++
  }
  await app.stop('SIGKILL')
  const lines = app.lines as Line[]
  const begun = lines.filter((line) => line.begun !== undefined).length
  return begun * 2 - lines.length
}
