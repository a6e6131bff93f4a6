import { type Context, refusal } from '../context'
import { handlesOf, queueTools } from './tools'

/** The effect of a purge and a redrive, reported by the same call before it is done. */
export function describeQueueDryRuns(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, pass, idsIn } = queueTools(context)

  /** Sends messages and has them die. */
  async function die(queue: string, count: number): Promise<void> {
    await filled(queue, count)
    await queues().nackMany(queue, handlesOf(await queues().receive(queue, { limit: count })), { dead: true })
  }

  describe('queues: a dry run', () => {
    it('of a purge tells how many messages it would drop now, and drops none', async () => {
      const letters = await made()
      const queue = await made({ deadLetterQueue: letters })
      await die(queue, 3)
      await die(letters, 2)
      await filled(letters, 4, (body) => (body % 2 ? { delaySeconds: 60 } : {}))
      expect(await queues().purge(letters, { dryRun: true })).toEqual({ deleted: 7 })
      // It counts again, however recently the counts were looked at.
      await queues().get(letters)
      await filled(letters, 1)
      expect(await queues().purge(letters, { dryRun: true })).toEqual({ deleted: 8 })
      await queues().receive(letters, { limit: 2 })
      expect(await queues().purge(letters, { dryRun: true })).toEqual({ deleted: 6 })
      pass(31)
      expect(await queues().purge(letters, { dryRun: true })).toEqual({ deleted: 8 })
      expect(await queues().purge(letters, { dryRun: false })).toEqual({ deleted: 8 })
      expect(await queues().purge(letters, { dryRun: true })).toEqual({ deleted: 0 })
      expect((await idsIn(letters, 'dead')).length).toBe(2)
    })

    it('of a redrive tells how many messages it would move now, and moves none', async () => {
      const letters = await made()
      const [first, second, gone] = [
        await made({ deadLetterQueue: letters }),
        await made({ deadLetterQueue: letters }),
        await made({ deadLetterQueue: letters }),
      ]
      await die(first, 3)
      await die(second, 4)
      await die(gone, 5)
      await queues().drop(gone)
      await filled(letters, 6)
      const dry = async (options: { limit?: number; prefix?: string } = {}) =>
        (await queues().redrive(letters, { ...options, dryRun: true })).moved
      expect([await dry(), await dry({ prefix: first }), await dry({ limit: 2 }), await dry({ prefix: 'x' })]).toEqual([
        7, 3, 2, 0,
      ])
      // The queue's own dead go back too, whatever the prefix, and so do those whose queue is gone once they have died here.
      const all = await queues().receive(letters, { limit: 18 })
      await queues().nackMany(letters, handlesOf(all), { dead: true })
      expect([await dry(), await dry({ prefix: first }), await dry({ limit: 2 })]).toEqual([18, 14, 2])
      expect(await idsIn(letters, 'dead')).toHaveLength(18)
      expect(await queues().redrive(letters, { prefix: first })).toEqual({ moved: 14 })
      expect(await dry()).toBe(4)
      expect(await queues().redrive(letters)).toEqual({ moved: 4 })
      expect(await dry()).toBe(0)
    })

    it('inside a transaction counts what that has done', async () => {
      const queue = await madeOf(2)
      await context.store.transaction(async (tx) => {
        await tx.queues.send(queue, 3)
        expect(await tx.queues.purge(queue, { dryRun: true })).toEqual({ deleted: 3 })
      })
    })

    it('refuses what makes no sense', async () => {
      const queue = await made()
      for (const call of [
        () => queues().purge(queue, { dryRun: 1 as never }),
        () => queues().redrive(queue, { dryRun: 'yes' as never }),
      ]) {
        expect((await refusal(call())).faults).toEqual([{ pointer: '/dryRun', detail: 'must be true or false' }])
      }
      for (const call of [
        () => queues().purge('nobody', { dryRun: true }),
        () => queues().redrive('nobody', { dryRun: true }),
      ]) {
        expect((await refusal(call())).code).toBe('queue_not_found')
      }
    })
  })

  describe('queues: chosen messages', () => {
    it('go back from where they died, and no others; a dry run counts them', async () => {
      const letters = await made()
      const queue = await made({ deadLetterQueue: letters })
      await die(letters, 1)
      await die(queue, 4)
      const own = (await idsIn(letters, 'dead'))[0] as bigint
      const dead = (await queues().peek(letters)).messages
      const plain = (await filled(letters, 1))[0] as bigint
      const [held] = await queues().receive(letters)
      const elsewhere = (await filled(await made(), 1))[0] as bigint
      const ids = [...dead.map(({ id }) => id), own, plain, elsewhere, elsewhere + 100n]
      expect(await queues().redrive(letters, { ids, dryRun: true })).toEqual({ moved: 4 })
      expect(await queues().redrive(letters, { ids, limit: 1, dryRun: true })).toEqual({ moved: 1 })
      expect(await queues().redrive(letters, { ids: [dead[1]?.id as bigint, plain] })).toEqual({ moved: 1 })
      expect(await idsIn(queue, 'ready')).toEqual([dead[1]?.id])
      expect(await queues().redrive(letters, { ids, prefix: 'other' })).toEqual({ moved: 1 })
      expect(await idsIn(letters, 'ready')).toContain(own)
      const undo = context.store.transaction(async (tx) => {
        expect(await tx.queues.redrive(letters, { ids })).toEqual({ moved: 2 })
        throw new Error('undo')
      })
      await expect(undo).rejects.toThrow('undo')
      expect(await queues().redrive(letters, { ids })).toEqual({ moved: 2 })
      expect(held?.id).toBe(dead[0]?.id)
      expect(await idsIn(letters, 'in-flight')).toEqual([held?.id])
    })

    it('that are delayed are made due, where their groups have places', async () => {
      const queue = await madeOf(4, { groupConcurrency: 1 }, (body) => ({ delaySeconds: 60 * body, messageGroup: 'g' }))
      const [first, second, third, fourth] = (await idsIn(queue, 'delayed')) as [bigint, bigint, bigint, bigint]
      const [ready] = await filled(queue, 1)
      const ids = [third, second, third, ready as bigint, fourth + 100n]
      expect(await queues().promote(queue, ids)).toEqual({ promoted: 2 })
      expect(await queues().promote(queue, ids)).toEqual({ promoted: 0 })
      expect(await idsIn(queue, 'delayed')).toEqual([first, fourth])
      expect([await idsIn(queue, 'ready'), await idsIn(queue, 'blocked')]).toEqual([[second, ready], [third]])
      const before = (await queues().message(queue, second))?.visibleAt.getTime() as number
      expect(before).toBeLessThanOrEqual(((await queues().get(queue))?.createdAt.getTime() as number) + 30_000)
      const undo = context.store.transaction(async (tx) => {
        expect(await tx.queues.promote(queue, [first])).toEqual({ promoted: 1 })
        throw new Error('undo')
      })
      await expect(undo).rejects.toThrow('undo')
      expect(await idsIn(queue, 'delayed')).toEqual([first, fourth])
    })

    it('wake a receive that waits', async () => {
      const queue = await madeOf(1, {}, () => ({ delaySeconds: 600 }))
      const waiting = queues().receive(queue, { waitSeconds: 20 })
      await queues().promote(queue, await idsIn(queue, 'delayed'))
      expect((await waiting).map(({ body }) => body)).toEqual([1])
    })

    it('are 1 to 1,000 ids of a queue that is there', async () => {
      const detail = 'must be a list of 1 to 1000 ids'
      for (const ids of [[], [1] as never, ['1'] as never, Array(1001).fill(1n), 1n as never, null as never]) {
        for (const call of [() => queues().promote('q', ids), () => queues().redrive('q', { ids })]) {
          expect((await refusal(call())).faults).toEqual([{ pointer: '/ids', detail }])
        }
      }
      for (const call of [() => queues().promote('nobody', [1n]), () => queues().redrive('nobody', { ids: [1n] })]) {
        expect((await refusal(call())).code).toBe('queue_not_found')
      }
    })
  })
}
