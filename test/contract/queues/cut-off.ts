import type { Store } from '../../../src/index'
import { CuttingProxy } from '../../support/cutting-proxy'
import { soonMs } from '../../support/timing'
import { type Context, refusal, sleep } from '../context'
import { handlesOf, queueTools, timed } from './tools'

/** A try is given up twice in about this time, and the database may stay away for longer. */
const AWAY_MS = 1_500
const GIVEN_UP_MS = 5_000
const LOOKED_UP_MS = 4_500

/** Deletes whose connection is lost: the caller learns what became of them. SQLite has no connection to lose. */
export function describeQueueCutOffs(context: Context): void {
  if (context.engine === 'sqlite') return
  const queues = () => context.store.queues
  const { madeOf, idsIn } = queueTools(context)
  const isDelete = (sql: string) => sql.startsWith('DELETE FROM recentn_queue_messages')

  async function cut(): Promise<{ proxy: CuttingProxy; store: Store }> {
    const proxy = await CuttingProxy.before(context.url)
    context.afterwards(() => proxy.close())
    return { proxy, store: await context.open({ url: proxy.through(context.url) }) }
  }

  async function received(count: number): Promise<{ queue: string; handles: string[] }> {
    const queue = await madeOf(count)
    return { queue, handles: handlesOf(await queues().receive(queue, { limit: count })) }
  }

  describe('queues: a delete whose connection is cut', () => {
    it.each(['before', 'after'] as const)(
      '%s it is done is done, and said so once the database is back',
      async (when) => {
        for (const count of [1, 3]) {
          const { proxy, store } = await cut()
          const { queue, handles } = await received(count)
          const isCut = proxy.cutStatements(isDelete, when)
          const told = store.queues.ackMany(queue, handles)
          await isCut
          proxy.refuse()
          await sleep(AWAY_MS)
          await proxy.accept()
          expect(await told).toEqual({ acked: handles, failed: [] })
          expect(await idsIn(queue, 'in-flight')).toEqual([])
        }
      },
    )

    it('and whose database stays away may have been done: outcome_unknown', async () => {
      const { proxy, store } = await cut()
      const one = await received(1)
      const many = await received(600)
      let seen = 0
      const isCut = proxy.cutStatements((sql) => isDelete(sql) && seen++ > 0, 'before')
      const told = refusal(store.queues.ackMany(many.queue, many.handles))
      await isCut
      proxy.refuse()
      const { answer, ms } = await timed(told)
      expect([answer.code, ms > LOOKED_UP_MS]).toEqual(['outcome_unknown', true])
      expect(await idsIn(many.queue, 'in-flight')).toHaveLength(100)
      const away = await timed(refusal(store.queues.ackMany(one.queue, one.handles)))
      expect([away.answer.code, away.ms < soonMs(GIVEN_UP_MS)]).toEqual(['database_unavailable', true])
      expect(await idsIn(one.queue, 'in-flight')).toHaveLength(1)
    })
  })
}
