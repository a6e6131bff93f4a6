/** docs/how-to/plain-sql.md: what its programs, its triggers and its procedures insert is sent and appended. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openStore, type Store } from 'recentn'
import { proceduresSql } from '../../src/repositories/door/doors'
import { type Database, describeEngine, ENGINES, freshDatabase } from '../support/engines'
import { findPhp, findPython, whyNoPhp, whyNoPython } from '../support/plain-sql-programs'
import { eventually } from '../support/timing'
import { blocksOf } from './support/pages'

const run = promisify(execFile)
const blocks = blocksOf('docs/how-to/plain-sql.md')
const codeIn = (language: string) => blocks.filter((block) => block.language === language).map(({ code }) => code)
const [inserts = '', forServers = '', forSqlite = '', calls = '', repair = ''] = codeIn('sql')
const [php = ''] = codeIn('php')
const [pymysql = '', python = ''] = codeIn('python')

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recentn-plain-sql-'))
  writeFileSync(join(folder, 'order.php'), php)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Fetching a program's packages may take a while, once. */
const itIf = (missing: string | null) => (title: string, body: () => Promise<void>) =>
  missing === null ? it(title, body, 180_000) : it.skip(`${title}: NOT TESTED: ${missing}`, body)

/** By a password, MySQL lets in only who has TLS, or a further package of Python's. */
const forEngine = (code: string, engine: string) =>
  engine === 'mysql' ? code.replace('password=password', "password=password, ssl={'ca': None}") : code

describe.each(ENGINES)('what plain SQL inserts', (engine) => {
  describeEngine(engine, 'is moved', () => {
    let database: Database
    let store: Store

    beforeEach(async () => {
      database = await freshDatabase(engine)
      store = await openStore({ url: database.url })
      for (const queue of ['mail', 'orders']) await store.queues.put(queue)
      await store.dataSource.query('CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, total integer NOT NULL)')
      await store.dataSource.query(engine === 'sqlite' ? forSqlite : forServers)
    })
    afterEach(async () => {
      await store.close()
      await database.drop()
    })

    const received = async (queue: string) =>
      (await store.queues.receive(queue, { waitSeconds: 20, limit: 10 })).map(({ body }) => body)

    async function runs(sql: string): Promise<void> {
      for (const statement of sql.split(/;\n|;$/).filter(Boolean)) await store.dataSource.query(statement)
    }

    it('from statements, from one that was refused and is put right, and from procedures', async () => {
      await runs(inserts)
      expect(await received('mail')).toEqual([{ to: 'ann' }])
      await store.dataSource.query(
        "INSERT INTO recentn_sends (id, queue, body, stuck) VALUES (7, 'mail', 'no JSON', 2)",
      )
      await runs(repair)
      expect(await received('mail')).toEqual([{ to: 'ann' }])
      if (engine === 'sqlite') return
      await runs(proceduresSql())
      await runs(calls)
      expect(await received('mail')).toEqual([{ to: 'ann' }])
    }, 60_000)

    itIf(whyNoPhp())('from PHP by PDO, with a trigger', async () => {
      const { program, options, env } = await findPhp()
      const { hostname, port, username, password, pathname } = new URL(database.url)
      const servers = `mysql:host=${hostname};port=${port};dbname=${pathname.slice(1)};charset=utf8mb4`
      const dsn = engine === 'sqlite' ? database.url : servers
      await run(program, [...options, join(folder, 'order.php'), dsn, username, decodeURIComponent(password)], { env })
      expect(await received('mail')).toEqual([{ to: 'Zoë', order: 42 }])
      expect(await received('orders')).toEqual([{ order: 42 }])
      const items = async () => (await store.groups.recent('customer:7')).items
      await eventually(20_000, 'the item is appended', async () => (await items()).length > 0)
      expect(await items()).toMatchObject([{ member: 'order:42', payload: { total: 99 } }])
    })

    const driver = engine === 'sqlite' ? 'sqlite3' : 'pymysql'
    itIf(whyNoPython(driver))('from Python, with a trigger', async () => {
      const { program, env } = await findPython(driver)
      const { hostname, port, username, password, pathname } = new URL(database.url)
      const servers = [hostname, port, pathname.slice(1), username, decodeURIComponent(password)]
      const script = join(folder, `${engine}.py`)
      writeFileSync(script, engine === 'sqlite' ? python : forEngine(pymysql, engine))
      const given = engine === 'sqlite' ? [database.url.slice('sqlite:'.length)] : servers
      await run(program, [script, ...given], { env })
      expect(await received('mail')).toEqual([{ to: 'Zoë', order: 43 }])
      expect(await received('orders')).toEqual([{ order: 43 }])
    })
  })
})
