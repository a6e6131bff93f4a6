/** recentn on a server that is set up in other ways than the tests' usual one. */
import type { RowDataPacket } from 'mysql2/promise'
import { DataSource } from 'typeorm'
import { attachStore, openStore, type RecentnError, type Store } from '../../src/index'
import { entities, migrations } from '../../src/typeorm'
import { run } from '../cli/support'
import { refusal, sleep } from '../contract/context'
import { startServer } from '../support/processes'
import type { ServerEngine } from '../support/servers/server'
import { exercise } from './exercise'
import { describeManagedSettings } from './managed-settings'
import { type OddServer, startOddServer, withGlobal } from './odd-server'
import { describeTls } from './tls'

export function describeOddServer(engine: ServerEngine): void {
  let server: OddServer
  let url: string
  const undo: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    server = await startOddServer(engine)
    url = await server.database()
    await (await openStore({ url })).close()
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })
  afterAll(() => server?.stop())

  const open = async (): Promise<Store> => {
    const store = await openStore({ url })
    undo.push(() => store.close())
    return store
  }
  const during = <T>(name: string, value: string, work: () => Promise<T>) => withGlobal(server.admin, name, value, work)

  describeTls(
    engine,
    () => url,
    () => server.admin,
  )
  describeManagedSettings(engine, () => server)

  it('does everything on its own connections, and doctor finds nothing wrong', async () => {
    await exercise(await open())
    const { code, stdout } = await run(['doctor'], { env: { DATABASE_URL: url } })
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('WRONG')])
  })

  it("does everything on a user's connections, which are as the server has them", async () => {
    const own = await server.database()
    const source = await new DataSource({
      type: 'mysql',
      url: own.replace(/^mariadb:/, 'mysql:'),
      charset: 'utf8mb4',
      entities,
      migrations,
    }).initialize()
    undo.push(() => source.destroy())
    await source.runMigrations()
    const store = await attachStore(source)
    undo.push(() => store.close())
    // MariaDB calls it tx_isolation before 11.1.
    const rows = await source.query(
      "SHOW VARIABLES WHERE Variable_name RLIKE '^(transaction|tx)_isolation$|^sql_mode$'",
    )
    const session = rows.map(({ Value }: { Value: string }) => Value)
    expect(session).toContain('SERIALIZABLE')
    expect(session).toContainEqual(expect.stringContaining('NO_BACKSLASH_ESCAPES'))
    await exercise(store)
  })

  it('keeps texts, and lets no caller read more than it asked for, where init_connect sets another character set', async () => {
    await during('init_connect', "'SET NAMES latin1'", async () => {
      const store = await open()
      await exercise(store)
      await store.groups.append('their', { member: 'them', payload: 'secret' })
      const http = await startServer({ DATABASE_URL: url, RECENTN_ALLOW_ANONYMOUS: '1' })
      // Of this letter latin1 keeps the last byte only, which is a quote.
      for (const member of ['xħ OR 1=1 -- ', "xħ UNION SELECT 1 -- '", 'x表']) {
        const answer = await fetch(`${http.url}/v1/members/${encodeURIComponent(member)}/items`)
        expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ items: [] })])
      }
      expect(await http.stop()).toEqual({ code: 0, signal: null })
      const { code, stdout } = await run(['doctor'], { env: { DATABASE_URL: url } })
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/WARN +texts +.*utf8mb4; init_connect .*SET NAMES latin1/),
      ])
      const source = await new DataSource({ type: 'mysql', url: url.replace(/^mariadb:/, 'mysql:') }).initialize()
      undo.push(() => source.destroy())
      const error = await refusal(attachStore(source))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringMatching(/latin1.*init_connect/)])
    })
  })

  /** Nothing is lost in silence: 451 items and messages, and what follows the COMMITs of a connection. */
  const countAll = async () => {
    const mark = `counted${++counted}`
    const rows = Array.from({ length: 451 }, (_, n) => n)
    const store = await openStore({ url, poolSize: 1, sweep: false, publish: false })
    undo.push(() => store.close())
    await store.policies.put(mark, { capacity: 500, mode: 'history' })
    await store.groups.appendMany(rows.map((payload) => ({ group: mark, payload })))
    const { items } = await store.groups.recent(mark, { limit: 500 })
    await store.queues.put(mark)
    await store.queues.sendMany(
      mark,
      rows.map((body) => ({ body })),
    )
    const messages = await store.queues.receive(mark, { limit: 450 })
    await store.queues.ackMany(mark, messages.map(({ receiptHandle }) => receiptHandle).slice(0, 440))
    const [last] = await store.queues.receive(mark)
    // Elsewhere it has to be seen while this connection does nothing more.
    const after = await open()
    const inFlight = (await after.queues.get(mark))?.counts.inFlight
    return [items.length, messages.length, last?.body, (await after.queues.receive(mark)).length, inFlight]
  }
  let counted = 0

  it.each([
    ['autocommit', '0', 1],
    ['completion_type', "'CHAIN'", 'NO_CHAIN'],
    ['sql_select_limit', '400', '18446744073709551615'],
    ['sql_safe_updates', '1', 0],
    ['sql_big_selects', '0', 1],
    ['sql_auto_is_null', '1', 0],
    ['unique_checks', '0', 1],
    ['div_precision_increment', '0', 4],
  ])('%s = %s changes nothing, a DataSource with it is refused by name, and doctor warns', async (name, odd, own) => {
    await during(name, odd, async () => {
      expect(await countAll()).toEqual([451, 450, 450, 0, 11])
      const store = await open()
      await exercise(store)
      const [row] = await store.dataSource.query(`SELECT @@SESSION.${name} AS value`)
      expect(String(row.value)).toBe(String(own))
      const { code, stdout } = await run(['doctor'], { env: { DATABASE_URL: url } })
      expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`WARN +settings +.*others ${name} `))])
      const source = await new DataSource({ type: 'mysql', url: url.replace(/^mariadb:/, 'mysql:') }).initialize()
      undo.push(() => source.destroy())
      const error = await refusal(attachStore(source))
      expect([error.code, error.message]).toEqual([
        'database_refused',
        expect.stringMatching(new RegExp(`have ${name} \\w+ \\(recentn needs ${own}\\)`)),
      ])
    })
  })

  it.each([
    ['init_connect', "'SET timestamp = 1000000000'", /have a fixed timestamp/],
    ['transaction_isolation', "'READ-UNCOMMITTED'", /have transaction_isolation READ-UNCOMMITTED/],
  ])('%s = %s changes nothing, and a DataSource with it is refused', async (name, odd, why) => {
    // MariaDB before 11.1 has it as tx_isolation.
    const [found] = await server.admin.query<RowDataPacket[]>('SHOW VARIABLES LIKE ?', [name])
    await during(found.length > 0 ? name : 'tx_isolation', odd, async () => {
      await exercise(await open())
      const source = await new DataSource({ type: 'mysql', url: url.replace(/^mariadb:/, 'mysql:') }).initialize()
      undo.push(() => source.destroy())
      expect(await refusal(attachStore(source))).toMatchObject({
        code: 'database_refused',
        message: expect.stringMatching(why),
      })
    })
  })

  it('sets a connection when it is made, not with each transaction', async () => {
    const store = await openStore({ url, poolSize: 1, sweep: false, publish: false, tick: false, history: false })
    undo.push(() => store.close())
    const settings = async () => {
      const [row] = await store.dataSource.query("SHOW SESSION STATUS LIKE 'Com_set_option'")
      return Number(row.Value)
    }
    const before = await settings()
    for (let payload = 0; payload < 100; payload++) await store.groups.append('set', { payload })
    // The first append says how long it waits for a lock; another says it again where batches have become slower.
    expect((await settings()) - before).toBeLessThan(10)
  })

  it('writes batches that are larger than max_allowed_packet', async () => {
    await during('max_allowed_packet', '1048576', async () => {
      const store = await open()
      const payload = `${'\\'.repeat(30_000)}`
      const items = Array.from({ length: 200 }, (_, n) => ({ group: `big:${n}`, payload: { n, payload } }))
      await store.groups.appendMany(items)
      const [last] = await store.groups.recentMany(['big:199'])
      expect(last?.items[0]?.payload).toEqual({ n: 199, payload })
      await store.queues.put('big')
      await store.queues.sendMany(
        'big',
        Array.from({ length: 60 }, (_, n) => ({ body: { n, payload } })),
      )
      expect(await store.queues.receive('big', { limit: 100 })).toHaveLength(60)
      await store.feeds.putMany(
        'big',
        Array.from({ length: 60 }, (_, n) => ({ key: `k${n}`, value: { n, payload } })),
      )
      expect((await store.feeds.get('big', 'k59'))?.value).toEqual({ n: 59, payload })
    })
  })

  it('says what is too large for the server, and continues', async () => {
    await during('max_allowed_packet', '65536', async () => {
      const store = await open()
      const error = await refusal(store.groups.append('wide', { payload: '\\'.repeat(32_000) }))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringContaining('max_allowed_packet')])
      const { code, stdout } = await run(['doctor'], { env: { DATABASE_URL: url } })
      expect([code, stdout]).toEqual([1, expect.stringMatching(/WRONG +writes.*65536[\s\S]*max_allowed_packet/)])
      await store.groups.append('narrow', { payload: 'x' })
    })
  })

  it('does not notice that the server closes idle connections', async () => {
    await during('wait_timeout', '1', async () => {
      const store = await open()
      await store.groups.append('idle', { payload: 1 })
      await sleep(2500)
      await store.groups.append('idle', { payload: 2 })
      expect((await store.groups.recent('idle')).totalAppended).toBe(2n)
    })
  })

  it('answers 503 while the server takes no writes, and continues by itself', async () => {
    const http = await startServer({ DATABASE_URL: url, RECENTN_ALLOW_ANONYMOUS: '1' })
    const append = async () => {
      const answer = await fetch(`${http.url}/v1/groups/failover/items`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{}',
      })
      return {
        status: answer.status,
        code: ((await answer.json()) as { code?: string }).code,
        again: answer.headers.get('Retry-After'),
      }
    }
    expect((await append()).status).toBe(201)
    await during('read_only', '1', async () => {
      expect(await append()).toEqual({
        status: 503,
        code: 'database_unavailable',
        again: expect.stringMatching(/^\d+$/),
      })
      expect((await fetch(`${http.url}/v1/groups/failover/items`)).status).toBe(200)
      const { code, stdout } = await run(['doctor'], { env: { DATABASE_URL: url } })
      expect([code, stdout]).toEqual([
        1,
        expect.stringMatching(/WRONG +writes +the server takes no writes \(read_only\)/),
      ])
    })
    expect((await append()).status).toBe(201)
    expect(await http.stop()).toEqual({ code: 0, signal: null })
  })

  it('closes a connection to a server that takes no writes any more, which may have become a replica', async () => {
    const store = await openStore({ url, poolSize: 1, sweep: false, publish: false })
    undo.push(() => store.close())
    await store.queues.put('switched')
    const connection = async () => (await store.dataSource.query('SELECT CONNECTION_ID() AS id'))[0].id
    const ids = [await connection()]
    await during('read_only', '1', async () => {
      expect((await refusal(store.groups.append('switched', {}))).code).toBe('database_unavailable')
      ids.push(await connection())
      await store.queues.send('switched', 1).catch(() => {})
      ids.push(await connection())
    })
    expect(new Set(ids).size).toBe(3)
  })

  it('leaves nothing in doubt when it takes no writes: neither a claim nor a COMMIT', async () => {
    const store = await openStore({ url, sweep: false, publish: false })
    undo.push(() => store.close())
    await store.queues.put('refused')
    await store.queues.send('refused', 1)
    const codes: unknown[] = []
    const note = async (call: Promise<unknown>) => codes.push((await refusal(call)).code)
    const work = store.transaction(
      async (tx) => {
        await tx.groups.append('refused')
        await tx.manager.query('SELECT 1') // what waits for the COMMIT is sent before it
        await server.admin.query('SET GLOBAL read_only = 1')
      },
      { retries: 0 },
    )
    try {
      await note(work)
      await note(store.queues.receive('refused'))
    } finally {
      await server.admin.query('SET GLOBAL read_only = 0')
    }
    expect(codes).toEqual(['database_unavailable', 'database_unavailable'])
    expect((await store.groups.list({ prefix: 'refused' })).groups).toEqual([])
    expect(await store.queues.receive('refused')).toHaveLength(1)
  })

  it('says that READ COMMITTED does not go with a binary log of statements', async () => {
    await during('binlog_format', "'STATEMENT'", async () => {
      const doctor = await run(['doctor'], { env: { DATABASE_URL: url } })
      expect([doctor.code, doctor.stdout]).toEqual([
        1,
        expect.stringMatching(/WRONG +durability[\s\S]*binlog_format = ROW/),
      ])
      const store = await open()
      const error: RecentnError = await refusal(store.groups.append('statement', {}))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringContaining('binlog_format')])
    })
  })
}
