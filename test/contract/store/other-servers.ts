import { mysqlEngine } from '../../../src/database/mysql/mysql-engine'
import { attachStore, type Store } from '../../../src/index'
import { innerOf } from '../../../src/store/inner'
import { run } from '../../cli/support'
import { CuttingProxy } from '../../support/cutting-proxy'
import { type Context, eventually, refusal, userSource } from '../context'

/** Servers that are almost like the tested ones, as a proxy before one of those makes them. */
export function describeOtherServers(context: Context): void {
  if (context.engine === 'sqlite') return

  async function proxied(): Promise<{ proxy: CuttingProxy; url: string }> {
    const proxy = await CuttingProxy.before(context.url)
    context.afterwards(() => proxy.close())
    return { proxy, url: proxy.through(context.url) }
  }

  describe('a server whose SKIP LOCKED', () => {
    const LOCKED = ' FOR UPDATE SKIP LOCKED'

    it.each<[string, (store: Store, name: string) => Promise<unknown>]>([
      ['queues', (store, name) => store.queues.receive(name)],
      ['pollers', (store, name) => store.poll(name, () => {}, { sequence: 'id', auto: false }).once()],
      ['feeds', (store, name) => store.feeds.publish().then(() => store.feeds.put(name, 'k', 1))],
    ])('reads what is locked is refused: %s', async (_, use) => {
      const name = context.unique('locked').replace(/\W/g, '_')
      await context.store.queues.put(name)
      await context.store.queues.send(name, 1)
      await context.store.dataSource.query(`CREATE TABLE ${name} (id integer NOT NULL PRIMARY KEY)`)
      const { proxy, url } = await proxied()
      proxy.rewrite(LOCKED, '')
      const store = await context.open({ url })
      for (const _again of [1, 2]) {
        const error = await refusal(use(store, name))
        expect([error.code, error.message]).toEqual(['database_refused', expect.stringContaining('SKIP LOCKED')])
      }
      const source = userSource(url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const attached = await attachStore(source, { sweep: false, publish: false })
      context.afterwards(() => attached.close())
      expect((await refusal(use(attached, name))).code).toBe('database_refused')
    })

    it('reads what is locked is named by doctor', async () => {
      const { proxy, url } = await proxied()
      proxy.rewrite(LOCKED, '')
      const { code, stdout } = await run(['doctor', '--database-url', url])
      expect([code, stdout]).toEqual([1, expect.stringMatching(/WRONG +SKIP LOCKED +.*has locked/)])
    })

    it('waits for what is locked is used: nothing is given twice', async () => {
      const { proxy, url } = await proxied()
      proxy.rewrite(LOCKED, ' FOR UPDATE')
      const store = await context.open({ url })
      const queue = context.unique()
      await store.queues.put(queue)
      await store.queues.send(queue, 1)
      expect(await store.queues.receive(queue)).toHaveLength(1)
    })

    it('cannot be tried out is used: one connection, or a pool that is all taken', async () => {
      const { url } = await proxied()
      const single = await context.open({ url, poolSize: 1 })
      const queue = context.unique()
      await single.queues.put(queue)
      const source = userSource(url)
      Object.assign(source.options, { extra: { connectionLimit: 2 } })
      await source.initialize()
      context.afterwards(() => source.destroy())
      const attached = await attachStore(source, { sweep: false, publish: false })
      context.afterwards(() => attached.close())
      // The caller holds one of two connections, and waits for a call that has the other.
      const held = source.createQueryRunner()
      await held.connect()
      await attached.queues.send(queue, 1)
      await held.release()
      await eventually(5000, 'all connections are back', async () => innerOf(attached).counts().connections.inUse === 0)
      expect(await attached.queues.receive(queue)).toHaveLength(1)
    })
  })

  describe('a member of a group of several primaries', () => {
    const refusals: [number, string][] = [
      [3101, 'Plugin instructed the server to rollback the current transaction.'],
      [1180, "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT"],
    ]

    it.each(refusals)('refuses a commit with %i: the transaction runs again, or is a conflict', async (errno, text) => {
      const { proxy, url } = await proxied()
      const store = await context.open({ url })
      const group = context.unique()
      await store.groups.put(group)
      // As long as COMMIT.
      const call = errno === 3101 ? 'CALL p' : 'CALL q'
      await store.dataSource.query(
        `CREATE PROCEDURE ${call.slice(-1)}() BEGIN ROLLBACK; ` +
          `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = '${text.replaceAll("'", "''")}'; END`,
      )
      let runs = 0
      const append = () =>
        store.transaction(
          async (tx) => {
            runs++
            await tx.groups.append(group)
          },
          { retries: 2 },
        )
      proxy.rewrite('COMMIT', call, 1)
      await append()
      expect([runs, (await store.groups.recent(group)).totalAppended]).toEqual([2, 1n])
      proxy.rewrite('COMMIT', call, 1)
      expect(await store.groups.append(group)).toMatchObject({ id: 1n })
      proxy.rewrite('COMMIT', call)
      runs = 0
      expect((await refusal(append())).code).toBe('conflict')
      expect(runs).toBe(3)
      proxy.rewrite('COMMIT', call, 0)
      expect((await store.groups.recent(group)).totalAppended).toBe(2n)
    })

    it('any other error while committing is no conflict: its outcome is found out', () => {
      expect(mysqlEngine.failure({ errno: 1180, message: "Got error 28 - 'No space left' during COMMIT" })).toBe('lost')
      expect(mysqlEngine.failure({ errno: 1180, message: "Got error 1490 - 'another' during COMMIT" })).toBe('lost')
    })
  })
}
