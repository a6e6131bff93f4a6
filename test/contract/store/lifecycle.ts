import { openStore } from '../../../src/index'
import { type Context, down, eventually, idsOf, refusal, sleep } from '../context'

export function describeLifecycle(context: Context): void {
  const groups = () => context.store.groups

  describe('close', () => {
    it('can be repeated, and refuses what comes after it', async () => {
      const store = await context.open({ sweep: true })
      const group = context.unique()
      await store.groups.append(group)
      await Promise.all([store.close(), store.close()])
      await store.close()
      const calls: (() => Promise<unknown>)[] = [
        () => store.groups.append(group),
        () => store.groups.appendMany([{ group }]),
        () => store.groups.recent(group),
        () => store.groups.recentMany([group]),
        () => store.groups.list(),
        () => store.groups.eraseMember('m'),
        () => store.policies.put(group, { capacity: 1, mode: 'history' }),
        () => store.transaction(async () => 1),
        () => store.ping(),
        async () => store.groups.watch(group),
        async () => store.queues.work('q', () => {}),
        async () => store.queues.work('q', () => {}, { auto: false }),
        async () => store.feeds.consume('f', 'c', () => {}),
        async () => store.poll('t', () => {}),
      ]
      for (const call of calls) expect((await refusal(Promise.resolve().then(call))).code).toBe('closed')
      expect((await context.store.groups.recent(group)).totalAppended).toBe(1n)
    })

    it('finishes what was accepted', async () => {
      const store = await context.open()
      const group = context.unique()
      const appends = Array.from({ length: 15 }, () => store.groups.append(group))
      const transaction = store.transaction(async (tx) => {
        await tx.groups.append(group)
        await sleep(20)
        await tx.groups.append(group)
      })
      await Promise.all([store.close(), transaction, ...appends])
      const recent = await context.store.groups.recent(group)
      expect([recent.totalAppended, idsOf(recent)]).toEqual([17n, down(16, 10)])
    })

    it('lets handlers that run do with the store what they do', async () => {
      const store = await context.open()
      const [queue, sent, feed, group] = ['q', 'sent', 'f', 'g'].map((what) => context.unique(what)) as [
        string,
        string,
        string,
        string,
      ]
      const table = context.unique('handled').replace(/\W/g, '_')
      const query = (sql: string) => context.store.dataSource.query(sql)
      await query(`CREATE TABLE ${table} (id integer NOT NULL PRIMARY KEY, status varchar(30) NOT NULL)`)
      context.afterwards(() => query(`DROP TABLE ${table}`))
      await query(`INSERT INTO ${table} VALUES (1, 'ready')`)
      await store.queues.put(queue, { maxReceives: 1 })
      await store.queues.put(sent)
      await store.queues.send(queue, 'x')
      let begun = 0
      const handler = (member: string) => async () => {
        begun++
        await sleep(400)
        await store.groups.append(group, { member })
        await store.feeds.put(feed, member, 1)
        await store.queues.send(sent, member)
        await store.transaction((tx) => tx.groups.append(group, { member }))
      }
      store.queues.work(queue, handler('message'))
      const warnings: unknown[] = []
      const onWarning = (warning: unknown) => warnings.push(warning)
      store.poll(table, handler('row'), { status: 'status', onWarning, onError: onWarning })
      await eventually(20_000, 'both run', async () => begun === 2)
      await store.close()
      expect((await groups().recent(group)).totalAppended).toBe(4n)
      expect((await context.store.feeds.get(feed, 'row'))?.value).toBe(1)
      const left = await Promise.all(
        [sent, queue].map(async (name) => (await context.store.queues.peek(name)).messages.map(({ body }) => body)),
      )
      expect(left.map((bodies) => bodies.sort())).toEqual([['message', 'row'], []])
      expect((await context.store.queues.peek(queue, { state: 'dead' })).messages).toEqual([])
      expect(await query(`SELECT status FROM ${table}`)).toMatchObject([{ status: 'done' }])
    })

    it('lets an erasure that was accepted finish, all of its transactions', async () => {
      const store = await context.open()
      const [prefix, member] = [context.unique(), context.unique('m')]
      await groups().appendMany(Array.from({ length: 600 }, (_, n) => ({ group: `${prefix}${n}`, member })))
      const erased = store.groups.eraseMember(member)
      await store.close()
      expect(await erased).toEqual({ deleted: 600 })
      expect((await groups().memberItems(member)).items).toEqual([])
    })
  })

  describe('a store', () => {
    it.each(['mysql://u:%zz@h/db', 'mariadb://%ff@h/db', 'mysql://u@h/%E0%A4%A'])(
      'refuses the URL %s, which is no UTF-8',
      async (url) => {
        expect((await refusal(openStore({ url }))).code).toBe('invalid_input')
      },
    )

    it('answers a ping, and says where its data is without the password', async () => {
      await context.store.ping()
      expect(context.store.location).not.toBe('')
      const password = URL.canParse(context.url) ? new URL(context.url).password : ''
      if (password !== '') expect(context.store.location).not.toContain(password)
    })

    it('in memory is new for each that opens one', async () => {
      const stores = await Promise.all([1, 2, 3].map(() => openStore({ url: 'sqlite::memory:' })))
      try {
        for (const [n, store] of stores.entries()) {
          for (let count = 0; count <= n; count++) await store.groups.append('a', { member: `m${n}` })
        }
        const totals = await Promise.all(stores.map(async (store) => (await store.groups.recent('a')).totalAppended))
        expect(totals).toEqual([1n, 2n, 3n])
      } finally {
        await Promise.all(stores.map((store) => store.close()))
      }
      const fresh = await openStore({ url: 'sqlite::memory:' })
      expect((await fresh.groups.list()).groups).toEqual([])
      await fresh.close()
    })

    it.each(['postgres://localhost/x', 'nonsense', '', 'mysql://localhost', 'sqlite:'])(
      'refuses the URL %j',
      async (url) => {
        expect((await refusal(openStore({ url }))).code).toBe('invalid_input')
      },
    )

    it('refuses options that are not valid', async () => {
      for (const defaultCapacity of [0, 10_001, 1.5]) {
        expect((await refusal(openStore({ url: 'sqlite::memory:', defaultCapacity }))).code).toBe('invalid_input')
      }
    })

    it('says so when the database does not answer', async () => {
      const error = await refusal(openStore({ url: 'mysql://nobody:secret@127.0.0.1:1/x' }))
      expect(error.code).toBe('database_unavailable')
      expect(error.message).not.toContain('secret')
    })
  })
}
