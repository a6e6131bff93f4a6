/** A load on one server of MariaDB or MySQL, whose server, network and strangers are at fault. */
import { randomBytes } from 'node:crypto'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { CuttingProxy, type Moment } from '../support/cutting-proxy'
import { describeEngine } from '../support/engines'
import { type BreakableServer, mysqlUri, type ServerEngine } from '../support/servers/server'
import { pause } from '../support/timing'
import { breakableServer } from './breakable'
import { type Fault, FaultRun, IS_LONG, PROCESS_FAULTS } from './fault-run'
import { GROUPS, STATEMENT_SECONDS } from './load'
import type { Good } from './load-ledger'

const DATABASE = 'faults'
const ACCOUNT = 'loading'
const MOMENTS: Moment[] = ['before', 'half', 'during', 'after']
const CUT_MS = IS_LONG ? 12_000 : 4000

jest.setTimeout(300_000)

/** An append to another group, or a send of another priority. Members of transactions have one word more. */
function needsNeither({ kind, words: [first, , third = ''] }: Good): boolean {
  if (kind === 'append') return first !== 'load:0' && third.split('-').length === 3
  return kind === 'send' && third === '0'
}

export function describeServerFaults(engine: ServerEngine): void {
  describeEngine(engine, 'a load', () => {
    let server: BreakableServer
    let proxy: CuttingProxy
    let run: FaultRun
    /** The work that a fault has begun, and ends. */
    let stranger: Connection | null = null
    let work: Promise<unknown> = Promise.resolve()

    beforeAll(async () => {
      server = await breakableServer(engine)
      const password = randomBytes(8).toString('hex')
      await asAdmin(
        `CREATE DATABASE ${DATABASE} CHARACTER SET utf8mb4`,
        `CREATE USER ${ACCOUNT} IDENTIFIED BY '${password}'`,
        `GRANT ALL ON ${DATABASE}.* TO ${ACCOUNT}`,
      )
      const direct = new URL(server.url)
      direct.pathname = `/${DATABASE}`
      const url = new URL(direct)
      url.username = ACCOUNT
      url.password = password
      proxy = await CuttingProxy.before(url.toString())
      run = await FaultRun.begin(engine, proxy.through(url.toString()), direct.toString())
    })

    afterAll(async () => {
      stranger?.destroy()
      await run?.end()
      await proxy?.close()
      await server?.stop()
    })

    async function connected(): Promise<Connection> {
      const connection = await createConnection({ uri: mysqlUri(server.url), multipleStatements: true })
      connection.on('error', () => {})
      return connection
    }

    async function asAdmin(...statements: string[]): Promise<RowDataPacket[]> {
      const connection = await connected()
      try {
        let rows: RowDataPacket[] = []
        for (const statement of statements) [rows] = await connection.query<RowDataPacket[]>(statement)
        return rows
      } finally {
        connection.destroy()
      }
    }

    /** Begins a transaction that stands until `letGo`. */
    async function hold(...statements: string[]): Promise<void> {
      stranger = await connected()
      await stranger.query(`USE ${DATABASE}`)
      for (const statement of statements) await stranger.query(statement)
    }

    async function letGo(): Promise<void> {
      await stranger?.query('ROLLBACK')
      stranger?.destroy()
      stranger = null
    }

    /** All connections have to be made again. */
    async function cutAll(): Promise<void> {
      proxy.refuse()
      await proxy.accept()
    }

    /** Strangers lock groups in another order than our transactions do. */
    async function deadlocks(ms: number): Promise<void> {
      const end = performance.now() + ms
      const one = async () => {
        const connection = await connected()
        await connection.query(`USE ${DATABASE}; SET SESSION innodb_lock_wait_timeout = 1`)
        while (performance.now() < end) {
          const touch = () => {
            const group = `load:${Math.floor(Math.random() * GROUPS)}`
            return connection.query(`UPDATE recentn_groups SET capacity = capacity WHERE group_key = '${group}'`)
          }
          await connection
            .query('START TRANSACTION')
            .then(touch)
            .then(() => pause(5))
            .then(touch)
            .then(touch)
            .catch(() => {})
          await connection.query('ROLLBACK')
        }
        connection.destroy()
      }
      await Promise.all([one(), one(), one(), one()])
    }

    async function killQueries(ms: number): Promise<void> {
      const end = performance.now() + ms
      const one = async () => {
        const connection = await connected()
        const ofLoad = `SELECT id FROM information_schema.PROCESSLIST WHERE user = '${ACCOUNT}'`
        while (performance.now() < end) {
          const [rows] = await connection.query<RowDataPacket[]>(ofLoad)
          const kill = rows.map(({ id }) => `KILL QUERY ${id}`).join(';')
          for (let times = 0; times < 50; times++) await connection.query(kill).catch(() => {})
          await pause(20)
        }
        connection.destroy()
      }
      await Promise.all([one(), one()])
    }

    const faults: Fault[] = [
      ...PROCESS_FAULTS,
      {
        name: 'the server killed, and started again',
        isAway: true,
        seconds: [1, 3],
        begin: () => server.kill(),
        end: () => server.start(),
      },
      {
        name: 'the server stopped (SIGSTOP)',
        isAway: true,
        seconds: [6, 20],
        begin: () => server.freeze(),
        end: () => server.thaw(),
      },
      {
        name: 'connections cut before, within and after a COMMIT, and at any moment',
        seconds: [0, 0],
        begin: () =>
          proxy.cutFor(CUT_MS, [100, 300], (step) => {
            if (step % 3 === 0) proxy.cutOne(Math.random())
            else void proxy.cutCommits(MOMENTS[Math.floor(Math.random() * MOMENTS.length)] as Moment)
          }),
      },
      {
        name: 'connections that swallow everything (half-open)',
        seconds: [1, 1],
        begin: () => proxy.swallow(),
        // The server keeps the locks of what it hears nothing of; its keep-alive would take two hours.
        end: () => pause(STATEMENT_SECONDS * 1300).then(() => proxy.endSwallowed()),
      },
      { name: 'everything 50 ms late', seconds: [2, 5], begin: () => proxy.delay(50), end: () => proxy.delay(0) },
      {
        name: 'connections refused',
        isAway: true,
        seconds: [3, 8],
        begin: () => proxy.refuse(),
        end: () => proxy.accept(),
      },
      {
        name: 'max_connections reached',
        seconds: [3, 5],
        begin: async () => {
          await hold('SET GLOBAL max_connections = 10')
          await cutAll()
        },
        end: () => stranger?.query('SET GLOBAL max_connections = 500').then(letGo),
      },
      {
        name: 'read_only',
        seconds: [3, 5],
        begin: () => asAdmin('SET GLOBAL read_only = 1'),
        end: () => asAdmin('SET GLOBAL read_only = 0'),
      },
      {
        name: 'a stranger holds the locks of all groups, and of what waits in the queues',
        seconds: [7, 30],
        begin: () =>
          hold(
            'START TRANSACTION',
            'SELECT group_key FROM recentn_groups FOR UPDATE',
            'SELECT id FROM recentn_queue_messages LIMIT 20 FOR UPDATE',
          ),
        end: letGo,
      },
      {
        name: 'a stranger holds the locks of one group, and of one priority of a queue',
        seconds: [7, 30],
        begin: () =>
          hold(
            'START TRANSACTION',
            "SELECT group_key FROM recentn_groups WHERE group_key = 'load:0' FOR UPDATE",
            "SELECT urgency FROM recentn_queue_flows WHERE queue_id = (SELECT id FROM recentn_queues WHERE queue = 'received') " +
              "AND urgency = -1 AND message_group = '' FOR UPDATE",
          ),
        end: letGo,
        // Once for a second, which MySQL may notice a second later.
        others: { are: needsNeither, withinMs: 3000 },
      },
      {
        name: 'a backup holds all writes: FLUSH TABLES WITH READ LOCK',
        seconds: [7, 20],
        begin: () => hold('FLUSH TABLES WITH READ LOCK'),
        end: () => stranger?.query('UNLOCK TABLES').then(letGo),
        others: { are: ({ kind }) => kind === 'read', withinMs: 2000 },
      },
      {
        name: 'a stranger reads at REPEATABLE READ, and does not end',
        seconds: [3, 20],
        begin: () => hold('START TRANSACTION WITH CONSISTENT SNAPSHOT', 'SELECT COUNT(*) FROM recentn_items'),
        end: letGo,
      },
      {
        name: 'strangers lock groups in any order: deadlocks',
        seconds: [3, 8],
        begin: () => {
          work = deadlocks(IS_LONG ? 8000 : 3000)
        },
        end: () => work,
      },
      {
        name: 'strangers kill queries (KILL QUERY), some between two statements of a packet',
        seconds: [4, 12],
        begin: () => {
          work = killQueries(IS_LONG ? 12_000 : 4000)
        },
        end: () => work,
        others: { are: ({ kind }) => !['receive', 'consume'].includes(kind), withinMs: 4000 },
      },
      {
        name: "the server's time zone changed",
        seconds: [2, 4],
        begin: async () => {
          await asAdmin("SET GLOBAL time_zone = '+05:30'")
          await cutAll()
        },
        end: () => asAdmin("SET GLOBAL time_zone = 'SYSTEM'"),
      },
    ]

    it.each(faults.map((fault) => [fault.name, fault] as const))('%s', async (_, fault) => {
      await run.suffer(fault)
    })

    it('nothing is lost, twice, or held by two', async () => {
      await run.judge(async () => {
        await proxy.close()
        const [row] = await asAdmin(
          `SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE user = '${ACCOUNT}'`,
        )
        return Number(row?.n)
      })
    })
  })
}
