/** `recentn/testing` as the tests of an app use it. */
import 'reflect-metadata'
import { setTimeout as pause } from 'node:timers/promises'
import type { Message, RecentnError } from 'recentn'
import { type TestStore, type TestStoreOptions, testStore } from 'recentn/testing'
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm'
import { STATE } from '../../src/repositories/queues/rows'
import { describeEngine, engineUrl } from '../support/engines'
import { openedOf } from '../support/opened'

@Entity()
class Order {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 100 })
  customer!: string
}

const bodies = (messages: readonly Message[]) => messages.map(({ body }) => body)
const codeOf = (call: Promise<unknown>) => call.catch((error: RecentnError) => error.code)
const NOW = { minSeconds: 0, maxSeconds: 0 }

describe('a test store', () => {
  let store: TestStore

  beforeEach(async () => {
    store = await testStore({ entities: [Order] })
    await store.queues.ensure('mail')
  })
  afterEach(() => store.close())

  it('begins with nothing, and has the tables of the entities', async () => {
    const { dataSource } = store
    await store.transaction(async (tx) => {
      await tx.manager.insert(Order, { id: 1, customer: 'ann' })
      await tx.queues.send('mail', { order: 1 })
    })
    await dataSource.transaction((manager) => manager.insert(Order, { id: 2, customer: 'bob' }))
    expect(await dataSource.getRepository(Order).find()).toEqual([
      { id: 1, customer: 'ann' },
      { id: 2, customer: 'bob' },
    ])
    const another = await testStore()
    expect(await another.queues.list()).toMatchObject({ queues: [] })
    await another.close()
  })

  it('refuses options that it can not have', async () => {
    await expect(testStore({ clockOffsetMs: () => 5 } as TestStoreOptions)).rejects.toMatchObject({
      code: 'invalid_input',
    })
    await expect(testStore({ sweep: 'no' } as never)).rejects.toThrow(/sweep/)
    for (const wrong of ['5', '5 weeks', 'min', Number.NaN]) {
      expect(await codeOf(store.clock.advance(wrong as never))).toBe('invalid_input')
    }
  })

  describe('its clock', () => {
    it('makes delayed messages ready, and ends visibility timeouts', async () => {
      await store.queues.send('mail', 'late', { delaySeconds: 300 })
      await store.clock.advance('290 s')
      expect(await store.queues.receive('mail')).toEqual([])
      await store.clock.advance('10 s')
      expect(bodies(await store.queues.receive('mail', { visibilityTimeoutSeconds: 30 }))).toEqual(['late'])
      expect(await store.queues.receive('mail')).toEqual([])
      await store.clock.advance(30)
      expect(bodies(await store.queues.receive('mail'))).toEqual(['late'])
    })

    it('removes what has expired, and what is archived for long enough', async () => {
      await store.groups.put('logins:ann', { ttlSeconds: 3600 })
      await store.groups.append('logins:ann', { member: '192.0.2.1' })
      await store.queues.update('mail', { onAck: 'archive', retentionSeconds: 86_400 })
      await store.queues.send('mail', 1)
      const [message] = await store.queues.receive('mail')
      await store.queues.ack('mail', message?.receiptHandle ?? '')
      const archived = async () => (await store.transaction((tx) => tx.queues.get('mail')))?.counts.archived
      expect(await archived()).toBe(1)
      await store.clock.advance('1 h')
      expect((await store.groups.recent('logins:ann')).items).toEqual([])
      expect(await archived()).toBe(1)
      await store.clock.advance('1 day')
      expect(await archived()).toBe(0)
    })

    it('ends the pause of a worker after a failure', async () => {
      const attempts: number[] = []
      store.queues.work(
        'mail',
        ({ receiveCount }) => {
          attempts.push(receiveCount)
          if (receiveCount < 3) throw new Error('not yet')
        },
        { backoff: { minSeconds: 600, maxSeconds: 600 }, onError: () => {} },
      )
      await store.queues.send('mail', 1)
      for (const attempt of [1, 2, 3]) {
        await store.drain('mail')
        expect(attempts).toHaveLength(attempt)
        await store.clock.advance('10 min')
      }
      expect(attempts).toEqual([1, 2, 3])
    })

    it('ends the pause of a consumer after a failure, and the wait of a receive', async () => {
      let failures = 0
      const given: string[] = []
      const failed = new Promise<void>((resolve) => {
        store.feeds.consume(
          'users',
          'index',
          (changes) => {
            if (failures++ === 0) throw new Error('no')
            given.push(...changes.map(({ key }) => key))
          },
          { backoff: { minSeconds: 600, maxSeconds: 600 }, onError: () => resolve() },
        )
      })
      await store.feeds.put('users', 'ann', {})
      await failed
      const receiving = store.queues.receive('mail', { waitSeconds: 20 })
      await store.clock.advance('10 min')
      await store.consumed('users')
      expect(given).toEqual(['ann'])
      expect(await receiving).toEqual([])
    })

    it('leaves a handler its claim, however far it is moved', async () => {
      let end = () => {}
      const began = new Promise<AbortSignal>((resolve) => {
        const handler = (_: Message, { signal }: { signal: AbortSignal }) => {
          resolve(signal)
          return new Promise<void>((done) => {
            end = done
          })
        }
        store.queues.work('mail', handler, { visibilityTimeoutSeconds: 30, concurrency: 2 })
      })
      const { id } = await store.queues.send('mail', 'long')
      const signal = await began
      await store.clock.advance('10 min')
      expect(signal.aborted).toBe(false)
      expect(await store.queues.message('mail', id)).toMatchObject({ state: 'in-flight', receiveCount: 1 })
      end()
      await store.drain('mail')
      expect(await store.queues.message('mail', id)).toBeNull()
    })

    it('ends the pause of a poller', async () => {
      await store.transaction((tx) => tx.manager.insert(Order, { id: 1, customer: 'ann' }))
      const names: string[] = []
      let failures = 0
      const poller = store.poll(
        Order,
        ({ customer }) => {
          if (failures++ === 0) throw new Error('no')
          names.push(customer)
        },
        { auto: false, backoff: { minSeconds: 60, maxSeconds: 60 }, onError: () => {}, onWarning: () => {} },
      )
      expect(await poller.once()).toMatchObject({ retried: 1 })
      expect(await poller.once()).toMatchObject({ claimed: 0 })
      await store.clock.advance('1 min')
      expect(await poller.once()).toMatchObject({ done: 1 })
      expect(names).toEqual(['ann'])
    })
  })

  describe('once() of a worker', () => {
    it('handles what is ready and nothing later, and tells what became of it', async () => {
      const seen: unknown[] = []
      const worker = store.queues.work(
        'mail',
        ({ body }) => {
          seen.push(body)
          if (body === 'bad') throw new Error('no')
        },
        { auto: false, onError: () => {} },
      )
      await store.queues.sendMany('mail', [{ body: 1 }, { body: 'bad' }, { body: 2 }])
      expect(seen).toEqual([])
      const [first, same] = await Promise.all([worker.once(), worker.once()])
      expect(first).toEqual({ done: 2, failed: 1 })
      expect(same).toBe(first)
      expect(seen).toEqual([1, 'bad', 2])
      expect(await worker.once()).toEqual({ done: 0, failed: 0 })
      await store.clock.advance('1 h')
      expect(await worker.once()).toEqual({ done: 0, failed: 1 })
      await worker.stop()
      expect(await codeOf(worker.once())).toBe('closed')
    })

    it('retries at once what has no backoff, until it is dead', async () => {
      await store.queues.update('mail', { maxReceives: 3 })
      const dead: unknown[] = []
      const worker = store.queues.work('mail', () => Promise.reject(new Error('no')), {
        auto: false,
        backoff: NOW,
        onError: () => {},
        onDead: ({ body }) => dead.push(body),
      })
      await store.queues.send('mail', 'poison')
      expect(await worker.once()).toEqual({ done: 0, failed: 3 })
      expect(dead).toEqual(['poison'])
    })

    it('throws what the database says, for a worker that receives by itself, and inside a transaction', async () => {
      const lost = store.queues.work('nowhere', () => {}, { auto: false })
      expect(await codeOf(lost.once())).toBe('queue_not_found')
      const auto = store.queues.work('mail', () => {})
      expect(await codeOf(auto.once())).toBe('invalid_input')
      const worker = store.queues.work('mail', () => {}, { auto: false })
      expect(await codeOf(store.transaction(() => worker.once()))).toBe('misuse')
    })
  })

  describe('what resolves when work in the background is done', () => {
    it('drain: nothing is ready or in flight, and all hooks were called', async () => {
      const done: unknown[] = []
      store.queues.work('mail', () => pause(1), { concurrency: 5, onDone: ({ body }) => done.push(body) })
      await store.queues.sendMany(
        'mail',
        Array.from({ length: 50 }, (_, body) => ({ body })),
      )
      await store.drain('mail')
      expect(done).toHaveLength(50)
      await store.drain('mail')
    })

    it('drain refuses to wait for a worker that there is not', async () => {
      await store.queues.send('mail', 1)
      await expect(store.drain('mail')).rejects.toThrow(/1 messages of the queue mail are ready, and no worker/)
      store.queues.work('mail', () => {}, { auto: false })
      expect(await codeOf(store.drain('mail'))).toBe('misuse')
      expect(await codeOf(store.drain('nowhere'))).toBe('queue_not_found')
    })

    it('polled: no row is ready or claimed', async () => {
      const names: string[] = []
      expect(await codeOf(store.polled(Order))).toBe('misuse')
      store.poll(Order, ({ customer }) => void names.push(customer), { intervalSeconds: 86_400, onWarning: () => {} })
      await store.polled(Order)
      await store.dataSource.getRepository(Order).insert([1, 2, 3].map((id) => ({ id, customer: `c${id}` })))
      await store.polled(Order)
      expect(names.sort()).toEqual(['c1', 'c2', 'c3'])
    })

    it('published and consumed', async () => {
      await store.feeds.putMany('users', [
        { key: 'ann', value: 1 },
        { key: 'bob', value: 2 },
      ])
      await store.published()
      expect((await store.feeds.changes('users')).changes.map(({ key }) => key)).toEqual(['ann', 'bob'])
      expect(await codeOf(store.consumed('users'))).toBe('misuse')
      const known = new Set<string>()
      for (const cursor of ['stored', 'memory'] as const) {
        const add = (changes: { key: string }[]) => {
          for (const { key } of changes) known.add(`${cursor} ${key}`)
        }
        store.feeds.consume('users', 'index', add, { cursor })
      }
      await store.feeds.put('users', 'cleo', 3)
      await store.consumed('users')
      expect([...known].sort()).toEqual([
        'memory ann',
        'memory bob',
        'memory cleo',
        'stored ann',
        'stored bob',
        'stored cleo',
      ])
    })
  })
})

for (const engine of ['mariadb', 'mysql'] as const) {
  describeEngine(engine, 'a test store', () => {
    it('has its own database, which is gone when it is closed', async () => {
      const url = engineUrl(engine) as string
      const [one, other] = await Promise.all([testStore({ url, entities: [Order] }), testStore({ url })])
      const names = [one, other].map(({ dataSource }) => dataSource.options.database as string)
      expect(new Set(names).size).toBe(2)
      await one.dataSource.getRepository(Order).insert({ id: 1, customer: 'ann' })
      await one.queues.ensure('mail')
      await one.queues.send('mail', 'late', { delaySeconds: 300 })
      await one.clock.advance('5 min')
      expect(bodies(await one.queues.receive('mail'))).toEqual(['late'])
      expect(await other.queues.list()).toMatchObject({ queues: [] })
      const databases = async () => {
        const source = await new DataSource({ type: engine, url: `${url.replace(/\/*$/, '')}/mysql` }).initialize()
        const rows: { name: string }[] = await source.query(
          'SELECT schema_name AS name FROM information_schema.schemata',
        )
        await source.destroy()
        return rows.map(({ name }) => name).filter((name) => names.includes(name))
      }
      expect(await databases()).toHaveLength(2)
      await Promise.all([one.close(), other.close()])
      expect(await databases()).toEqual([])
    })

    it('has what is due ready after a step, also where a sweeper has just locked it', async () => {
      const store = await testStore({ url: engineUrl(engine) as string })
      await store.queues.ensure('mail')
      await store.queues.send('mail', 'late', { delaySeconds: 300 })
      const sweeper = store.dataSource.createQueryRunner()
      await sweeper.startTransaction()
      await sweeper.query('SELECT id FROM recentn_queue_messages FOR UPDATE')
      const sweep = jest.spyOn(openedOf(store).queues, 'sweep')
      const stepped = store.clock.advance('5 min')
      while (sweep.mock.calls.length < 2) await pause(1)
      await sweeper.rollbackTransaction()
      await sweeper.release()
      await stepped
      // Not by a peek or a receive, which would see to it themselves.
      const [row] = await store.dataSource.query('SELECT state FROM recentn_queue_messages')
      await store.close()
      expect(row).toEqual({ state: STATE.ready })
    })
  })
}
