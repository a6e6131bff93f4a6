/** docs/how-to/plain-sql.md: what its programs, its triggers and its procedures insert is sent and appended. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openStore, type Store } from 'recentn'
import { proceduresSql } from '../../src/repositories/door/procedures'
import { type Database, describeEngine, ENGINES, freshDatabase } from '../support/engines'
import { findPhp, type Php } from '../support/php'
import { eventually } from '../support/timing'
import { blocksOf, hasTools } from './support/pages'

const run = promisify(execFile)
const blocks = blocksOf('docs/how-to/plain-sql.md')
const codeIn = (language: string) => blocks.filter((block) => block.language === language).map(({ code }) => code)
const [inserts = '', forServers = '', forSqlite = '', calls = '', repair = ''] = codeIn('sql')
const [php = ''] = codeIn('php')
const [python = ''] = codeIn('python')

let found: Php
let folder: string

beforeAll(async () => {
  found = await findPhp()
  folder = mkdtempSync(join(tmpdir(), 'recentn-plain-sql-'))
  writeFileSync(join(folder, 'order.php'), php)
  writeFileSync(join(folder, 'order.py'), python)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

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

    it('from PHP by PDO, with a trigger', async () => {
      if (typeof found === 'string') {
        if (process.env.CI) throw new Error(`PHP: NOT TESTED: ${found}`)
        return console.warn(`PHP: NOT TESTED: ${found}`)
      }
      const { program, options, env } = found
      const { hostname, port, username, password, pathname } = new URL(database.url)
      const servers = `mysql:host=${hostname};port=${port};dbname=${pathname.slice(1)};charset=utf8mb4`
      const dsn = engine === 'sqlite' ? database.url : servers
      await run(program, [...options, join(folder, 'order.php'), dsn, username, decodeURIComponent(password)], { env })
      expect(await received('mail')).toEqual([{ to: 'Zoë', order: 42 }])
      expect(await received('orders')).toEqual([{ order: 42 }])
      const items = async () => (await store.groups.recent('customer:7')).items
      await eventually(20_000, 'the item is appended', async () => (await items()).length > 0)
      expect(await items()).toMatchObject([{ member: 'order:42', payload: { total: 99 } }])
    }, 60_000)

    const isPython = engine === 'sqlite' && (hasTools('python3') || process.env.CI)
    const testPython = isPython ? it : it.skip
    testPython(
      'from Python, with a trigger',
      async () => {
        await run('python3', [join(folder, 'order.py'), database.url.slice('sqlite:'.length)])
        expect(await received('mail')).toEqual([{ to: 'bob', order: 43 }])
        expect(await received('orders')).toEqual([{ order: 43 }])
      },
      60_000,
    )
  })
})
