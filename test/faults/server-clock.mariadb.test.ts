/** A load on a MariaDB whose clock jumps by an hour, back and forth: a private one under libfaketime. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { privateCopy } from '../support/servers/debian'
import { packagesServer } from '../support/servers/packages'
import { type BreakableServer, messageOf, mysqlUri } from '../support/servers/server'
import { FaultRun } from './fault-run'

jest.setTimeout(300_000)

describe('a load on mariadb', () => {
  const folder = mkdtempSync(join(tmpdir(), 'recentn-clock-'))
  const offset = join(folder, 'offset')
  let server: BreakableServer | null = null
  let run: FaultRun | undefined

  /** The clock of the server, from now on. */
  const set = (hours: number) => writeFileSync(offset, `${hours >= 0 ? '+' : ''}${hours}h\n`)

  beforeAll(async () => {
    set(0)
    server = await clockedServer().catch((error: unknown) => {
      process.stderr.write(`NOT TESTED: a server whose clock jumps: ${messageOf(error)}\n`)
      return null
    })
    if (server === null) return
    await query('CREATE DATABASE clocked CHARACTER SET utf8mb4')
    await query("CREATE USER loading IDENTIFIED BY 'clocked'")
    await query('GRANT ALL ON clocked.* TO loading')
    const direct = `${server.url}clocked`
    const url = new URL(direct)
    url.username = 'loading'
    url.password = 'clocked'
    run = await FaultRun.begin('mariadb, its clock', url.toString(), direct)
  })

  afterAll(async () => {
    await run?.end()
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function query(sql: string): Promise<Record<string, unknown>[]> {
    const connection = await createConnection({ uri: mysqlUri((server as BreakableServer).url) })
    try {
      return (await connection.query(sql))[0] as Record<string, unknown>[]
    } finally {
      connection.destroy()
    }
  }

  async function clockedServer(): Promise<BreakableServer> {
    const { root } = await privateCopy({ label: 'faketime', main: 'libfaketime', others: [] })
    const library = findLibrary(root)
    const env = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: offset,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
    const started = await packagesServer('mariadb', [], { memory: true, env })
    server = started
    set(1)
    const [row] = await query('SELECT UNIX_TIMESTAMP() AS seconds')
    set(0)
    const ahead = Number(row?.seconds) - Date.now() / 1000
    if (ahead > 3000) return started
    await started.stop()
    throw new Error(`its clock cannot be moved: it is ${ahead} s ahead`)
  }

  it.each([
    ['back', -1],
    ['forth again', 0],
    ['an hour ahead', 1],
  ])("the server's clock jumps %s", async (name, hours) => {
    await run?.suffer({ name: `the server's clock jumps: ${name}`, seconds: [2, 6], begin: () => set(hours) })
  })

  it('nothing is lost, or twice', async () => {
    // Its clock says when a claim ends: a jump forward ends all of them.
    const left = "SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE user = 'loading'"
    await run?.judge(async () => Number((await query(left))[0]?.n), ['together'])
  })
})

function findLibrary(root: string): string {
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('/libfaketimeMT.so.1'),
  )
  if (found === undefined) throw new Error('its package has no libfaketimeMT.so.1')
  return join(root, found)
}
