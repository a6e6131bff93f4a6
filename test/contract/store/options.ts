import {
  attachStore,
  createDashboard,
  createMetrics,
  createRouter,
  openStore,
  type RouterOptions,
  type Store,
  type Transaction,
} from '../../../src/index'
import { schemaOf } from '../../../src/typeorm'
import { type Context, refusal, userSource } from '../context'

/** A call with something in place of each object that it takes. */
type Call = (given: never) => unknown
/** One for each object that a method takes; the compiler asks for every public method. */
type Calls<Methods> = { [Name in keyof Methods]: Call[] }

/** Methods that take no object have none. */
const NONE: Call[] = []
const nothing = () => {}

function groupCalls({ groups }: Pick<Transaction, 'groups'>): Calls<Transaction['groups']> {
  return {
    append: [(item) => groups.append('g', item), (options) => groups.append('g', {}, options)],
    appendMany: [(item) => groups.appendMany([item]), (options) => groups.appendMany([{ group: 'g' }], options)],
    recent: [(options) => groups.recent('g', options)],
    recentIfChanged: [(options) => groups.recentIfChanged('g', 'tag', options)],
    recentMany: [(options) => groups.recentMany(['g'], options)],
    changeScore: [(options) => groups.changeScore('g', 'm', 1, options)],
    clear: NONE,
    item: [(options) => groups.item('g', 0n, options)],
    remove: NONE,
    get: NONE,
    put: [(settings) => groups.put('g', settings), (options) => groups.put('g', {}, options)],
    update: [(changes) => groups.update('g', changes), (options) => groups.update('g', {}, options)],
    ensure: [(settings) => groups.ensure('g', settings)],
    losses: [(settings) => groups.losses('g', settings)],
    drop: NONE,
    list: [(options) => groups.list(options)],
    memberItems: [(options) => groups.memberItems('m', options)],
    eraseMember: [(options) => groups.eraseMember('m', options)],
  }
}

function policyCalls({ policies }: Pick<Transaction, 'policies'>): Calls<Transaction['policies']> {
  const settings = { capacity: 1, mode: 'history' } as const
  return {
    get: NONE,
    put: [(given) => policies.put('p', given), (options) => policies.put('p', settings, options)],
    update: [(changes) => policies.update('p', changes), (options) => policies.update('p', {}, options)],
    ensure: [(given) => policies.ensure('p', given)],
    losses: [(given) => policies.losses('p', given)],
    drop: NONE,
    list: [(options) => policies.list(options)],
  }
}

function queueCalls({ queues }: Pick<Transaction, 'queues'>): Calls<Transaction['queues']> {
  return {
    get: NONE,
    put: [(settings) => queues.put('q', settings), (options) => queues.put('q', {}, options)],
    ensure: [(settings) => queues.ensure('q', settings)],
    update: [(settings) => queues.update('q', settings), (options) => queues.update('q', {}, options)],
    pause: NONE,
    resume: NONE,
    hold: [(options) => queues.hold('q', options)],
    drop: NONE,
    list: [(options) => queues.list(options)],
    send: [(options) => queues.send('q', 1, options)],
    sendMany: [(message) => queues.sendMany('q', [message])],
    receive: [(options) => queues.receive('q', options)],
    cycle: [(options) => queues.cycle('q', options)],
    ack: NONE,
    nack: [(options) => queues.nack('q', 'x', options)],
    extend: [(options) => queues.extend('q', 'x', options)],
    ackMany: NONE,
    nackMany: [(options) => queues.nackMany('q', ['x'], options)],
    extendMany: [(options) => queues.extendMany('q', ['x'], options)],
    peek: [(options) => queues.peek('q', options)],
    message: [(options) => queues.message('q', 1n, options)],
    remove: NONE,
    cancel: NONE,
    purge: [(options) => queues.purge('q', options)],
    redrive: [(options) => queues.redrive('q', options)],
    promote: [(options) => queues.promote('q', [1n], options)],
    errors: [(options) => queues.errors('q', options)],
    history: [(options) => queues.history('q', options)],
    receivers: NONE,
  }
}

function scheduleCalls({ schedules }: Pick<Transaction, 'schedules'>): Calls<Transaction['schedules']> {
  const definition = { queue: 'q', everySeconds: 1, body: 1 }
  return {
    get: [(options) => schedules.get('s', options)],
    put: [(given) => schedules.put('s', given), (options) => schedules.put('s', definition, options)],
    update: [(changes) => schedules.update('s', changes), (options) => schedules.update('s', {}, options)],
    ensure: [(given) => schedules.ensure('s', given), (options) => schedules.ensure('s', definition, options)],
    drop: NONE,
    list: [(options) => schedules.list(options)],
  }
}

function feedCalls({ feeds }: Pick<Transaction, 'feeds'>): Calls<Transaction['feeds']> {
  return {
    put: NONE,
    putMany: [(entry) => feeds.putMany('f', [entry])],
    get: [(options) => feeds.get('f', 'k', options)],
    delete: NONE,
    republish: [(selection) => feeds.republish('f', selection)],
    changes: [(options) => feeds.changes('f', options)],
    cursor: NONE,
    moveCursor: [(options) => feeds.moveCursor('f', 'c', 1n, options)],
    dropCursor: NONE,
    status: NONE,
    drop: NONE,
    list: [(options) => feeds.list(options)],
  }
}

const keyCalls = ({ keys }: Store): Calls<Store['keys']> => ({
  create: [(key) => keys.create(key)],
  list: [(options) => keys.list(options)],
  revoke: NONE,
  verify: NONE,
})

function storeCalls(store: Store): Record<string, Record<string, Call[]>> {
  const { groups, queues, feeds } = store
  return {
    store: {
      transaction: [(options) => store.transaction(async () => 1, options)],
      poll: [(options) => store.poll('recentn_items', nothing, options)],
      pollMany: [(options) => store.pollMany('recentn_items', nothing, options)],
    } satisfies Partial<Calls<Store>>,
    groups: { ...groupCalls(store), watch: [(options) => groups.watch('g', options)] } satisfies Calls<Store['groups']>,
    policies: policyCalls(store),
    schedules: { ...scheduleCalls(store), tick: NONE } satisfies Calls<Store['schedules']>,
    queues: {
      ...queueCalls(store),
      work: [
        (options) => queues.work('q', nothing, options),
        (options) => {
          const worker = queues.work('q', nothing)
          return worker.stop(options).finally(() => worker.stop())
        },
      ],
      workMany: [(options) => queues.workMany('q', nothing, options)],
    } satisfies Calls<Store['queues']>,
    feeds: {
      ...feedCalls(store),
      publish: NONE,
      follow: [(options) => feeds.follow('recentn_items', options)],
      followTrigger: [(options) => feeds.followTrigger('recentn_items', options)],
      consume: [
        (options) => feeds.consume('f', 'c', nothing, options),
        (options) => {
          const loop = feeds.consume('f', 'c', nothing)
          return loop.stop(options).finally(() => loop.stop())
        },
      ],
    } satisfies Calls<Store['feeds']>,
    keys: keyCalls(store),
  }
}

/** Options that are none, or unknown, are refused as bad input by every call, and nothing is done. */
export function describeOptions(context: Context): void {
  const unknown = { sweeep: true }

  async function expectRefused(where: string, call: Call): Promise<void> {
    for (const given of [null, unknown, 'text'] as never[]) {
      const { code, faults } = await refusal(Promise.resolve().then(() => call(given) as Promise<unknown>)).catch(
        (thrown: unknown) => ({ code: `${String(thrown)}`, faults: [] }),
      )
      expect([where, given, code, faults.length > 0]).toEqual([where, given, 'invalid_input', true])
    }
  }

  describe('options', () => {
    it('are refused by every call of a store when they are null, or have a member that is not known', async () => {
      const store = await context.open()
      for (const [part, calls] of Object.entries(storeCalls(store))) {
        for (const [name, some] of Object.entries(calls)) {
          for (const call of some) await expectRefused(`${part}.${name}`, call)
        }
      }
      expect((await context.store.groups.list({ prefix: 'g' })).groups.filter(({ group }) => group === 'g')).toEqual([])
    })

    it('that are not known are answered with what was probably meant', async () => {
      const given = { delay: 5, maxRecieves: 1, other: 2 } as never
      const { faults } = await refusal(context.store.queues.send('q', 1, given))
      expect(faults).toEqual([
        { pointer: '/delay', detail: 'is not known; did you mean delaySeconds?' },
        { pointer: '/maxRecieves', detail: 'is not known; did you mean maxReceives?' },
        { pointer: '/other', detail: 'is not known' },
      ])
    })

    it('are refused in the same way inside a transaction', async () => {
      await context.store.transaction(async (tx) => {
        for (const calls of [groupCalls(tx), policyCalls(tx), queueCalls(tx), scheduleCalls(tx), feedCalls(tx)]) {
          for (const [name, some] of Object.entries(calls as Record<string, Call[]>)) {
            for (const call of some) await expectRefused(`tx.${name}`, call)
          }
        }
      })
    })

    it('are refused where a store is opened, attached, served or measured', async () => {
      const source = userSource('sqlite::memory:')
      await source.initialize()
      context.afterwards(() => source.destroy())
      await source.runMigrations({ transaction: 'none' })
      const { store } = context
      await expectRefused('openStore', (options) => openStore(options))
      await expectRefused('attachStore', (options) => attachStore(source, options))
      await expectRefused('createRouter', async (options) => createRouter(store, options))
      await expectRefused('createDashboard', async (options) => createDashboard(store, options))
      await expectRefused('createMetrics', async (options) => createMetrics(store, options))
      await expectRefused('schemaOf', async (options) => schemaOf(options))
      await expectRefused('attachStore of it', (given) => attachStore(given))
      const { code } = await refusal(Promise.resolve().then(() => store.within(null as never) as never))
      expect(code).toBe('invalid_input')
    })

    const wrong: [string, (given: never) => unknown, Record<string, unknown>][] = [
      [
        'openStore',
        (given: object) => openStore({ url: 'sqlite::memory:', ...given }),
        {
          url: 7,
          migrate: 'no',
          poolSize: 0,
          sweep: 'no',
          publish: 1,
          defaultCapacity: '10',
          batching: null,
          feeds: 'all',
          clockOffsetMs: 5,
          onBackgroundError: {},
          connectionTimeoutSeconds: 0,
        },
      ],
      [
        'openStore, parts',
        (given: object) => openStore({ url: 'sqlite::memory:', ...given }),
        { 'batching/lane': 1, 'batching/lanes': 17, 'feeds/tombstone': 1, 'feeds/tombstoneSeconds': 0.5 },
      ],
      [
        'createRouter',
        async (given: RouterOptions) => createRouter(context.store, given),
        {
          access: 'all',
          bodyLimitBytes: 0,
          stopping: 'now',
          onError: 'log',
          metrics: {},
          'a/b~c': 1,
        },
      ],
      [
        'createMetrics',
        async (given: object) => createMetrics(context.store, given),
        { registry: {}, prefix: 'my-', totals: 'yes', processMetrics: 1 },
      ],
      ['transaction', (given: object) => context.store.transaction(async () => 1, given), { retries: -1, retry: 1 }],
    ]

    it.each(wrong)('of %s: all that are wrong are named at once', async (_, call, options) => {
      const given: Record<string, unknown> = {}
      for (const [path, value] of Object.entries(options)) {
        const [, part, name] = /^(batching|feeds)\/(.*)$/.exec(path) ?? []
        if (part === undefined) given[path] = value
        else given[part] = { ...(given[part] as object), [name as string]: value }
      }
      const { code, faults } = await refusal(Promise.resolve().then(() => call(given as never) as Promise<unknown>))
      const pointers = Object.keys(options).map((path) => `/${path === 'a/b~c' ? 'a~1b~0c' : path}`)
      expect([code, faults.map(({ pointer }) => pointer).sort()]).toEqual(['invalid_input', pointers.sort()])
    })

    it('of a transaction: what it is to run must be a function', async () => {
      const { faults } = await refusal(context.store.transaction('work' as never, { retries: 1001 }))
      expect(faults.map(({ parameter, pointer }) => parameter ?? pointer)).toEqual(['work', '/retries'])
    })

    it('that are undefined are left out', async () => {
      const store = await openStore({
        url: 'sqlite::memory:',
        sweep: undefined,
        batching: { lanes: undefined },
      } as never)
      await store.transaction(async () => 1, { retries: undefined } as never)
      createMetrics(store, { prefix: undefined } as never)
      createRouter(store, { access: 'anonymous', onError: undefined } as never)
      await store.close()
    })
  })
}
