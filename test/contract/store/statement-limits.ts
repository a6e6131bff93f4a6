import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { createApp } from '../../../src/http/process/app'
import { listen } from '../../../src/http/process/listen'
import { attachStore, openStore, RecentnError } from '../../../src/index'
import { clientOf } from '../../http/support/client'
import { CuttingProxy } from '../../support/cutting-proxy'
import { sessionsOf } from '../../support/sessions'
import { soonMs, timed } from '../../support/timing'
import { type Context, eventually, refusal, userSource } from '../context'

/** A server that hangs, or a network that swallows everything while its connections stand. */
export function describeStatementLimits(context: Context): void {
  if (context.engine === 'sqlite') return // which is a part of this process
  const query = (sql: string) => context.store.dataSource.query(sql)

  async function proxied(): Promise<{ proxy: CuttingProxy; url: string }> {
    const proxy = await CuttingProxy.before(context.url)
    context.afterwards(() => proxy.close())
    return { proxy, url: proxy.through(context.url) }
  }

  describe('a statement that is never answered', () => {
    it('holds none of its callers for ever', async () => {
      const { proxy, url } = await proxied()
      const store = await context.open({ url, poolSize: 2, statementTimeoutSeconds: 1, connectionTimeoutSeconds: 3 })
      const group = context.unique()
      await store.queues.put(group)
      await store.groups.append(group)
      proxy.stall()
      const calls = [
        store.groups.append(group),
        store.groups.recent(group),
        store.queues.send(group, 1),
        store.transaction((tx) => tx.groups.append(group)),
        store.ping(),
      ]
      const refused = await Promise.all(calls.map((call) => refusal(call)))
      const codes = new Set(refused.map(({ code }) => code))
      for (const code of codes) expect(['database_unavailable', 'outcome_unknown', 'overloaded']).toContain(code)
    }, 120_000)

    it('ends with the others when the server has been silent for the time of one, and says what was not sent', async () => {
      const { proxy, url } = await proxied()
      const store = await context.open({ url, poolSize: 2, statementTimeoutSeconds: 1 })
      const group = context.unique()
      const error = await refusal(
        store.transaction(
          async (tx) => {
            await tx.manager.query('SELECT 1')
            proxy.stall()
            // From where its statement begins.
            await expect(store.dataSource.query('SELECT 1')).rejects.toThrow('no answer within 1 s')
            await tx.groups.append(group)
          },
          { retries: 0 },
        ),
      )
      // For a connection that is closed, and not after its own limit; at the COMMIT it would be in doubt.
      expect([error.code, error.message]).toEqual(['database_unavailable', expect.stringContaining('closed state')])
    }, 120_000)

    it('keeps no probe waiting', async () => {
      const { proxy, url } = await proxied()
      const store = await openStore({ url, sweep: false, publish: false, statementTimeoutSeconds: 20, poolSize: 1 })
      const server = await listen(createApp(store, { allowAnonymous: true }), '127.0.0.1', 0)
      const client = clientOf(server.url)
      expect((await client.get('/readyz')).status).toBe(200)
      proxy.stall()
      let isOver = false
      const held = store.ping().finally(() => {
        isOver = true
      })
      const probes = await Promise.all([client.get('/readyz'), client.get('/readyz'), client.get('/livez')])
      expect([probes.map(({ status }) => status), isOver]).toEqual([[503, 503, 200], false])
      await proxy.close()
      expect(await refusal(held)).toBeInstanceOf(RecentnError)
      await server.stop()
      await store.close()
    }, 120_000)
  })

  it('a server that hangs keeps no process alive once the store is closed', async () => {
    const { proxy, url } = await proxied()
    const store = await context.open({ url })
    const sockets = new Set<Socket>()
    const { pool } = store.dataSource.driver as unknown as { pool: EventEmitter }
    pool.on('acquire', ({ stream }) => sockets.add(stream))
    // Nothing is written, so that no statement is sent at the end, whose limit would close its connection.
    await Promise.all(['a', 'b', 'c'].map((group) => store.groups.recent(group)))
    const open = () => [...sockets].filter(({ destroyed }) => !destroyed).length
    expect(open()).toBeGreaterThan(0)
    proxy.stall()
    await store.close()
    await eventually(5000, 'its connections are closed', async () => open() === 0)
  })

  it('a server that hangs is waited for some seconds by the last writes of a store', async () => {
    const { proxy, url } = await proxied()
    const store = await context.open({ url, history: true })
    const group = context.unique()
    await store.queues.put(group)
    // It leaves its marks where it has written.
    await Promise.all([store.groups.append(group), store.queues.send(group, 1), store.feeds.put(group, 'k', 1)])
    await store.queues.receive(group)
    const isReported = async () => (await store.queues.receivers(group)).unknownInFlight === 0
    await eventually(30_000, 'it has reported that it receives', isReported)
    proxy.stall()
    const { ms } = await timed(store.close())
    expect(ms).toBeLessThan(soonMs(10_000))
  })

  describe('a statement that takes too long', () => {
    it('is database_unavailable, and its connection is never used again', async () => {
      const store = await context.open({ poolSize: 1, statementTimeoutSeconds: 1 })
      const idOf = async () => Number((await store.dataSource.query('SELECT CONNECTION_ID() AS id'))[0].id)
      const id = await idOf()
      const error = await refusal(store.transaction(({ manager }) => manager.query('SELECT SLEEP(30)'), { retries: 0 }))
      expect([error.code, error.message]).toEqual([
        'database_unavailable',
        expect.stringContaining('no answer within 1 s (statementTimeoutSeconds)'),
      ])
      expect(await idOf()).not.toBe(id)
    })

    it('takes no other connection with it, while the server answers other statements', async () => {
      const store = await context.open({ poolSize: 3, statementTimeoutSeconds: 1 })
      /** Whether a transaction that began before the slow statement commits after it. */
      const survives = () =>
        store
          .transaction(
            async ({ manager }) => {
              await manager.query('SELECT 1')
              let isOver = false
              const slow = store.dataSource
                .query('SELECT SLEEP(30)')
                .catch(() => {})
                .finally(() => {
                  isOver = true
                })
              while (!isOver) await store.dataSource.query('SELECT 1')
              await slow
              return manager.query('SELECT 1').then(
                () => true,
                () => false,
              )
            },
            { retries: 0 },
          )
          .catch(() => false)
      // On a machine that is too busy the server may have been silent for that second.
      for (let tries = 1; !(await survives()); tries++) if (tries === 10) throw new Error('it never survives')
    }, 120_000)

    it.each<[string, (sql: string) => boolean, string | bigint]>([
      ['the first', (sql) => sql.startsWith('START TRANSACTION;'), 'database_unavailable'],
      ['the last', (sql) => sql.endsWith(';\nCOMMIT'), 1n],
    ])('is lost soon where its packet got one answer, %s of a write', async (_, isIt, outcome) => {
      const { proxy, url } = await proxied()
      const store = await context.open({ url })
      const group = context.unique()
      await store.groups.append(group)
      const warned = jest.spyOn(process, 'emitWarning').mockImplementation()
      context.afterwards(async () => warned.mockRestore())
      const isLeft = proxy.cutStatements(isIt, 'between')
      // While this runs, MySQL cannot read information_schema.PROCESSLIST.
      const runner = context.store.dataSource.createQueryRunner()
      const [{ id }] = await runner.query('SELECT CONNECTION_ID() AS id')
      const asleep = runner.query("SELECT SLEEP(20), '😀'").catch(() => {})
      const append = store.groups.append(group).then(
        ({ id }) => id,
        ({ code }: RecentnError) => code,
      )
      const { answer, ms } = await timed(append)
      await isLeft
      await query(`KILL QUERY ${id}`)
      await asleep
      await runner.release()
      expect([answer, ms < soonMs(8000)]).toEqual([outcome, true])
      expect((await store.groups.recent(group)).totalAppended).toBe(outcome === 1n ? 2n : 1n)
      expect(warned.mock.calls.map(([text]) => text)).toEqual([expect.stringContaining('as by KILL QUERY')])
    })

    it('waits for a lock as long as it may, also behind the first answer of its packet', async () => {
      const [store, group, warned] = [await context.open(), context.unique(), jest.spyOn(process, 'emitWarning')]
      context.afterwards(async () => warned.mockRestore())
      await store.groups.append(group)
      const holder = context.store.dataSource.createQueryRunner()
      await holder.startTransaction()
      await context.store.within(holder).groups.append(group)
      const waiting = store.transaction((tx) => tx.groups.append(group), { retries: 0 })
      const database = new URL(context.url).pathname.slice(1)
      await eventually(30_000, 'it has waited for 4 seconds', async () =>
        (await sessionsOf(query)).some(
          (one) => one.database === database && one.seconds >= 4 && one.sql.includes('recentn_groups'),
        ),
      )
      await holder.commitTransaction()
      await holder.release()
      expect([(await waiting).id, warned.mock.calls]).toEqual([2n, []])
    })

    it('is fine for a migration', async () => {
      const url = await context.emptyDatabase()
      const name = new URL(url).pathname.slice(1)
      const holder = context.store.dataSource.createQueryRunner()
      const lock = `CONCAT('recentn:', SHA2('${name}/recentn_', 224))`
      await holder.query(`SELECT GET_LOCK(${lock}, 0)`)
      const opening = openStore({ url, sweep: false, publish: false, statementTimeoutSeconds: 1 })
      await eventually(60_000, 'it has waited for 3 seconds', async () =>
        (await sessionsOf(query)).some(
          (one) => one.database === name && one.seconds >= 3 && one.sql.startsWith('SELECT GET_LOCK'),
        ),
      )
      await holder.query(`SELECT RELEASE_LOCK(${lock})`)
      await holder.release()
      await (await opening).close()
    }, 120_000)
  })

  describe("a statement of the store's on connections of the user's", () => {
    async function attached(url: string) {
      const source = new DataSource({ ...userSource(url).options, poolSize: 2 } as DataSourceOptions)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const store = await attachStore(source, { sweep: false, publish: false, tick: false, statementTimeoutSeconds: 2 })
      context.afterwards(() => store.close())
      const group = context.unique()
      await store.queues.put(group)
      await store.groups.append(group)
      return { source, store, group }
    }

    it('that is never answered holds no caller for ever, and its connection leaves the pool', async () => {
      const { proxy, url } = await proxied()
      const { source, store, group } = await attached(url)
      const ids = async () => {
        const both = [0, 1].map(() => source.query('SELECT CONNECTION_ID() AS id'))
        return (await Promise.all(both)).map(([{ id }]) => id)
      }
      const before = await ids()
      proxy.swallow()
      // Whatever is lost before its COMMIT runs again, twice at most, on another connection.
      await Promise.all([
        store.groups.append(group),
        store.groups.recent(group),
        store.queues.send(group, 1),
        store.transaction((tx) => tx.groups.append(group)),
        store.queues.receive(group),
      ])
      expect((await store.groups.recent(group)).totalAppended).toBe(3n)
      for (const id of await ids()) expect(before).not.toContain(id)
      await store.groups.append(group)
    })

    it("waits for one of the user's in store.transaction, which may take as long as it needs", async () => {
      const { store, group } = await attached(context.url)
      const [slept, appended] = await store.transaction(({ manager, groups }) =>
        Promise.all([manager.query('SELECT SLEEP(3) AS slept'), groups.append(group)]),
      )
      expect([Number(slept[0].slept), appended.id]).toEqual([0, 1n])
    })
  })

  it('a clock that is set back keeps no statement waiting', async () => {
    const { proxy, url } = await proxied()
    const store = await context.open({ url })
    const group = context.unique()
    await store.groups.append(group)
    const isCut = proxy.cutCommits('after')
    const call = refusal(store.groups.append(group))
    await isCut
    proxy.refuse()
    let at = Date.now()
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => {
      at -= 60_000
      return at
    })
    try {
      expect((await call).code).toBe('outcome_unknown')
    } finally {
      clock.mockRestore()
    }
  })

  it('an idle transaction ends by itself on MariaDB', async () => {
    const [row] = await query("SHOW SESSION VARIABLES LIKE 'idle_transaction_timeout'")
    expect(row?.Value).toBe(context.engine === 'mariadb' ? '120' : undefined)
  })
}
