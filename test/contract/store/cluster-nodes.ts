import { attachStore, type Store } from '../../../src/index'
import { CuttingProxy } from '../../support/cutting-proxy'
import { withoutReports } from '../../support/opened'
import { soonMs, timed } from '../../support/timing'
import { type Context, eventually, refusal, userSource } from '../context'

const QUESTION = "SHOW VARIABLES WHERE Variable_name IN ('wsrep_on', 'group_replication_group_name')"
const ANSWER = "SELECT 'wsrep_on' AS Variable_name, 'ON' AS Value"
const BEGIN = 'START TRANSACTION;\n'
const COMMIT = ';\nCOMMIT'
const EFFECT = /^(INSERT|UPDATE|DELETE|REPLACE|SET STATEMENT)/

/** A store on a server that says it is a node of a Galera cluster; real ones are in test/cluster. */
export function describeClusterNodes(context: Context): void {
  if (context.engine === 'sqlite') return
  it('a commit that was cut off is looked up for 5 seconds, also on a member that does not answer', async () => {
    const proxy = await CuttingProxy.before(context.url)
    context.afterwards(() => proxy.close())
    proxy.rewrite(QUESTION, "SELECT 'group_replication_group_name' AS Variable_name, 'x' AS Value")
    // As the member of a group without a majority: it waits for the others.
    proxy.rewrite('SET @recentn_before = @@SESSION.group_replication_consistency', 'DO SLEEP(300)')
    const store = await context.open({ url: proxy.through(context.url), statementTimeoutSeconds: 150 })
    const group = context.unique()
    await store.groups.append(group)
    const isCut = proxy.cutCommits('after')
    const { answer, ms } = await timed(refusal(store.groups.append(group)))
    await isCut
    expect([answer.code, ms < soonMs(10_000)]).toEqual(['outcome_unknown', true])
  }, 120_000)

  if (context.engine !== 'mariadb') return

  async function proxied(): Promise<{ proxy: CuttingProxy; url: string }> {
    const proxy = await CuttingProxy.before(context.url)
    context.afterwards(() => proxy.close())
    proxy.rewrite(QUESTION, ANSWER)
    return { proxy, url: proxy.through(context.url) }
  }

  async function onNode(poolSize?: number): Promise<{ proxy: CuttingProxy; store: Store }> {
    const { proxy, url } = await proxied()
    return { proxy, store: withoutReports(await context.open({ url, ...(poolSize && { poolSize }) })) }
  }

  async function received(store: Store, count: number): Promise<{ queue: string; handles: string[] }> {
    const queue = context.unique()
    await store.queues.put(queue)
    await store.queues.sendMany(
      queue,
      Array.from({ length: count }, (_, body) => ({ body })),
    )
    const messages = await store.queues.receive(queue, { limit: count })
    return { queue, handles: messages.map(({ receiptHandle }) => receiptHandle) }
  }

  describe('on a node of a Galera cluster', () => {
    it('claims and deletes are transactions, and take one round trip as elsewhere', async () => {
      const { proxy, store } = await onNode()
      const { queue, handles } = await received(store, 2)
      await store.queues.sendMany(
        queue,
        Array.from({ length: 20 }, (_, body) => ({ body })),
      )
      await eventually(10_000, 'a claim of one round trip', async () => {
        const sent = proxy.record()
        expect(await store.queues.receive(queue)).toHaveLength(1)
        // On a slow machine it also looks for more urgent messages.
        const claims = sent.filter((sql) => sql.includes('UPDATE ('))
        return claims.length === 1 && claims.every((sql) => sql.startsWith(BEGIN) && sql.endsWith(COMMIT))
      })
      const sent = proxy.record()
      expect((await store.queues.ackMany(queue, handles)).acked).toEqual(handles)
      expect(sent).toEqual([
        expect.stringMatching(/^START TRANSACTION;\nDELETE FROM .* RETURNING receipt;\nDO 0;\nCOMMIT$/),
      ])
    })

    it('the next rows are waited for, and a packet has one statement with an effect', async () => {
      const { proxy, store } = await onNode()
      await store.queues.send((await received(store, 1)).queue, 1) // SKIP LOCKED is tried out before the first write
      const sent = proxy.record()
      const { queue, handles } = await received(store, 3)
      await store.queues.nackMany(queue, handles.slice(1), { delaySeconds: 1 })
      await store.queues.ackMany(queue, handles)
      await store.queues.cycle(queue)
      await store.queues.purge(queue)
      await store.feeds.put(queue, 'k', 1)
      await store.feeds.publish(queue)
      expect((await store.feeds.get(queue, 'k'))?.syncId).toBe(1n)
      await store.feeds.drop(queue)
      await store.groups.append(queue)
      await store.transaction(async (tx) => {
        await tx.groups.append(queue)
        await tx.queues.send(queue, 2)
      })
      expect(sent.filter((sql) => sql.split(';\n').filter((one) => EFFECT.test(one)).length > 1)).toEqual([])
      expect(sent.filter((sql) => sql.endsWith(';\nCOMMIT') && !sql.endsWith(';\nDO 0;\nCOMMIT'))).toEqual([])
      expect(sent.filter((sql) => sql.includes('SKIP LOCKED'))).toEqual([])
      expect(sent.filter((sql) => sql.includes('FOR UPDATE')).length).toBeGreaterThan(0)
    })

    it('a transaction that the node has aborted before its COMMIT runs again', async () => {
      const { proxy, store } = await onNode()
      const [group, { queue, handles }] = [context.unique(), await received(store, 1)]
      await store.groups.append(group)
      const sent = proxy.record()
      proxy.rewrite('DO 0;\nCOMMIT', 'ROLLBACK', 1)
      expect((await store.groups.append(group)).id).toBe(1n)
      expect((await context.store.groups.recent(group)).items.map(({ id }) => id)).toEqual([1n, 0n])
      proxy.rewrite('DO 0;\nCOMMIT', 'ROLLBACK', 1)
      expect((await store.queues.ackMany(queue, handles)).acked).toEqual(handles)
      expect((await context.store.queues.peek(queue)).messages).toEqual([])
      expect(sent.filter((sql) => sql.includes('DELETE FROM'))).toHaveLength(2)
    })

    it('ids are right where the step between them changes in between', async () => {
      const { proxy, store } = await onNode()
      const queue = context.unique()
      await store.queues.put(queue)
      proxy.rewrite('@@SESSION.auto_increment_increment AS stride', '7 AS stride')
      const sent: bigint[] = []
      // The first send of a queue, a quick one, one that is not, and a large one.
      for (const [body, options] of [
        ['a', {}],
        ['b', {}],
        ['c', { messageGroup: 'm' }],
      ] as const) {
        const { id } = await store.queues.send(queue, body, options)
        sent.push(id)
      }
      for (const count of [3, 300]) {
        const bodies = Array.from({ length: count }, (_, n) => ({ body: `${count}-${n}` }))
        for (const { id } of await store.queues.sendMany(queue, bodies)) sent.push(id)
      }
      const { messages } = await context.store.queues.peek(queue, { limit: 1000 })
      const there = messages.map(({ id }) => id).sort((a, b) => Number(a - b))
      expect([...sent].sort((a, b) => Number(a - b))).toEqual(there)
      expect(new Map(messages.map(({ id, body }) => [id, body])).get(sent[2] as bigint)).toBe('c')
    })

    it('a delete that meets a conflict is rolled back and run again', async () => {
      const { proxy, store } = await onNode(1)
      await store.dataSource.query('SET SESSION innodb_lock_wait_timeout = 0')
      const { queue, handles } = await received(store, 1)
      const sent = proxy.record()
      const told = await context.store.transaction(async (tx) => {
        await tx.manager.query('SELECT id FROM recentn_queue_messages FOR UPDATE')
        const deleting = store.queues.ackMany(queue, handles)
        await eventually(10_000, 'a second try', async () => sent.filter((sql) => sql.includes('DELETE')).length > 1)
        return { deleting }
      })
      expect((await told.deleting).acked).toEqual(handles)
      expect(sent).toContain('ROLLBACK')
      const [row] = await store.dataSource.query('SELECT @@in_transaction AS isOpen')
      expect(Number(row.isOpen)).toBe(0)
    })

    it.each(['before', 'after'] as const)(
      'a commit that is cut off %s is looked up once the node has caught up',
      async (when) => {
        const { proxy, store } = await onNode()
        const [group, { queue, handles }] = [context.unique(), await received(store, 3)]
        await store.groups.append(group)
        const sent = proxy.record()
        const isCut = proxy.cutCommits(when)
        expect((await store.groups.append(group)).id).toBe(1n)
        await isCut
        const lookUp = sent.findIndex((sql) => sql.includes('FROM recentn_writers'))
        expect(sent.slice(0, lookUp)).toContain('SET SESSION wsrep_sync_wait = 1')
        expect((await context.store.groups.recent(group)).totalAppended).toBe(2n)
        const again = proxy.record()
        const isDeleteCut = proxy.cutStatements((sql) => sql.includes('DELETE FROM recentn_queue_messages'), when)
        expect(await store.queues.ackMany(queue, handles)).toEqual({ acked: handles, failed: [] })
        await isDeleteCut
        expect(again).toContain('SET SESSION wsrep_sync_wait = 1')
        const [{ waits }] = await store.dataSource.query('SELECT @@SESSION.wsrep_sync_wait AS waits')
        expect(Number(waits)).toBe(0)
      },
    )

    it('an attached DataSource does the same, a statement at a time', async () => {
      const source = userSource((await proxied()).url)
      source.setOptions({ poolSize: 1 })
      await source.initialize()
      context.afterwards(() => source.destroy())
      const store = await attachStore(source, { sweep: false, publish: false })
      context.afterwards(() => store.close())
      const { queue, handles } = await received(store, 3)
      expect((await store.queues.ackMany(queue, handles)).acked).toEqual(handles)
      const [row] = await source.query('SELECT @@in_transaction AS isOpen')
      expect(Number(row.isOpen)).toBe(0)
    })
  })
}
