import { z } from 'zod'
import { JsonText } from '../../../src/index'
import { expectCheckedBodies, expectCheckedValues, expectHandledWithSchema } from '../../support/handle-schemas'
import { expectSame, feedSteps, groupSteps, queueSteps } from '../../support/handle-steps'
import { type Context, eventually } from '../context'

interface Mail {
  to: string
}

export function describeHandles(context: Context): void {
  const { unique } = context

  describe('a handle', () => {
    it('of a store does what the calls do', async () => {
      const { store } = context
      const [a, b] = [unique(), unique()]
      await expectSame(store.queue(a), [store.queues, b], queueSteps)
      await expectSame(store.group(a), [store.groups, b], groupSteps)
      await expectSame(store.feed(a), [store.feeds, b], feedSteps)
    })

    it('of a transaction does what the calls do, in the transaction', async () => {
      const { store } = context
      const [a, b] = [unique(), unique()]
      const [kept, gone] = [store.queue<Mail>(unique()), store.queue<Mail>(unique())]
      await kept.put()
      await gone.put()
      await store.transaction(async (tx) => {
        await expectSame(
          tx.queue(a),
          [tx.queues, b],
          queueSteps.filter(([call]) => call !== 'drop'),
        )
        await expectSame(tx.group(a), [tx.groups, b], groupSteps)
        await expectSame(tx.feed(a), [tx.feeds, b], feedSteps)
        await tx.queue<Mail>(kept.name).send({ to: 'ann' })
      })
      const failed = store.transaction(async (tx) => {
        await tx.queue<Mail>(gone.name).send({ to: 'bob' })
        throw new Error('rolled back')
      })
      await expect(failed).rejects.toThrow('rolled back')
      expect((await kept.peek()).messages.map(({ body }) => body.to)).toEqual(['ann'])
      expect((await gone.peek()).messages).toEqual([])
    })

    it('fills in its name where a call takes it as a member', async () => {
      const { store } = context
      const views = store.group<Mail | null>(unique())
      const body = { to: 'ann' }
      await store.transaction(async (tx) => {
        await tx.group<Mail>(views.name).appendMany([{ payload: body }])
      })
      await views.appendMany([{ member: 'bob' }, { payload: { to: 'cid' } }])
      expect((await views.recent()).items.map(({ id, payload }) => [id, payload?.to])).toEqual([
        [2n, 'cid'],
        [1n, undefined],
        [0n, 'ann'],
      ])
      // A value that is neither an item nor a list is for the call to refuse.
      for (const items of [7, null, [null], undefined]) {
        const refused = views.appendMany(items as never)
        await expect(refused).rejects.toMatchObject({ code: 'invalid_input' })
      }
      const elsewhere = views.appendMany([{ member: 'bob' }, { group: 'elsewhere' }] as never)
      await expect(elsewhere).rejects.toMatchObject({ code: 'invalid_input' })
      expect((await views.recent()).totalAppended).toBe(3n)
      const users = store.feed(unique())
      await store.dataSource.query('CREATE TABLE handle_users (id integer NOT NULL PRIMARY KEY, sync bigint NULL)')
      await store.dataSource.query('CREATE INDEX handle_users_sync ON handle_users (sync)')
      const followed = await users.follow('handle_users', { syncColumn: 'sync', key: 'id' })
      expect(followed.feed).toBe(users.name)
      followed.stop()
      await expect(users.follow('no_such_table', { syncColumn: 's', key: 'id' })).rejects.toMatchObject({
        code: 'invalid_input',
      })
    })

    it('with a schema checks what goes in, and gives what the schema puts out', async () => {
      const { store } = context
      const [mail, users, inside] = [unique(), unique(), unique()]
      for (const name of [mail, inside]) await store.queues.put(name)
      await expectCheckedBodies(store, mail)
      await expectCheckedValues(store, users)
      await expectHandledWithSchema(store, [mail, users], () => store.feeds.publish(users))
      await store.transaction(async (tx) => {
        await expectCheckedBodies(tx, inside)
        await expectCheckedValues(tx, inside)
      })
      const texts = await store.queue(inside, { schema: z.number() }).receive({ bodies: 'text' })
      expect(texts.map(({ body }) => body)).toEqual([expect.any(JsonText)])
    })

    it('works, consumes and watches under its name', async () => {
      const { store } = context
      const [mail, users, views] = [
        store.queue<Mail>(unique()),
        store.feed<Mail>(unique()),
        store.group<Mail>(unique()),
      ]
      const seen: string[] = []
      await mail.put()
      await mail.send({ to: 'a queue' })
      await users.put('ann', { to: 'a feed' })
      expect(await users.publish()).toEqual({ published: 1 })
      const watch = views.watch()
      await watch.ready
      await views.append({ payload: { to: 'a group' } })
      const worker = mail.work(({ body }) => seen.push(body.to))
      const consumer = users.consume('index', (changes) => {
        for (const { value } of changes) seen.push(value?.to ?? 'deleted')
      })
      const event = (await watch.next()).value
      if (event?.type === 'item') seen.push(event.item.payload.to)
      await eventually(10_000, 'all are seen', () => seen.length === 3)
      await Promise.all([worker.stop(), consumer.stop(), watch.return()])
      expect(seen.sort()).toEqual(['a feed', 'a group', 'a queue'])
    })
  })
}
