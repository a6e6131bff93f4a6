import { attachStore, type ErrorCode, type Store, type Transaction } from '../../../src/index'
import { innerOf } from '../../../src/store/inner'
import { CuttingProxy } from '../../support/cutting-proxy'
import { sessionsOf } from '../../support/sessions'
import { type Context, eventually, refusal, userSource } from '../context'

/** The error that callers get for a number that the server answers a write with. */
const CODES: [ErrorCode, number[]][] = [
  ['conflict', [1020, 1205, 1213, 1412, 3101, 3572]],
  ['database_unavailable', [1040, 1047, 1053, 1180, 1203, 1226, 1290, 1836, 1927, 2006, 3032, 3100, 3169, 4031, 9001]],
  ['database_unavailable', [3, 1016, 1021, 1026, 1030, 1034, 1105, 1114, 1197, 1317, 1878, 1969, 3015, 3024, 3989]],
  ['database_refused', [1045, 1142, 1153, 1227, 1665, 3098, 3118, 3159, 4151]],
]
/** Numbers of servers that have done nothing. */
const REFUSALS = [1047, 1226, 1290, 1792, 1836]
const NUMBERS = CODES.flatMap(([code, numbers]) => numbers.map((number) => [number, code] as const))

/** The server itself raises the errors, by a trigger or in place of a COMMIT. */
export function describeErrorNumbers(context: Context): void {
  if (context.engine === 'sqlite') return // its errors have names: see sqlite-faults.test.ts
  const isMariadb = context.engine === 'mariadb'
  const query = (sql: string) => context.store.dataSource.query(sql)

  describe('an error number', () => {
    beforeAll(() =>
      query(
        `CREATE TRIGGER raise_number BEFORE INSERT ON recentn_items FOR EACH ROW
         IF NEW.member LIKE 'error %' THEN BEGIN
           DECLARE number int DEFAULT CAST(SUBSTRING_INDEX(SUBSTRING(NEW.member, 7), ' ', 1) AS UNSIGNED);
           DECLARE words varchar(100) DEFAULT CONCAT('raised by the test', SUBSTRING(NEW.member, 11));
           SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = number, MESSAGE_TEXT = words;
         END; END IF`,
      ),
    )
    afterAll(() => query('DROP TRIGGER raise_number'))

    it.each(NUMBERS)('%i reaches callers as %s, and nothing is stored', async (number, code) => {
      const group = context.unique()
      const work = (store: Store) =>
        store.transaction(
          async (tx) => {
            await tx.groups.append(group, { member: 'before' })
            await tx.groups.append(group, { member: `error ${number}` })
          },
          { retries: 0 },
        )
      const error = await refusal(work(context.store))
      expect([error.code, error.status]).toEqual([code, 503])
      if (code === 'database_unavailable') {
        expect([error.message, error.retryAfterSeconds]).toEqual([expect.stringContaining('raised by the test'), 1])
      }
      expect((await context.store.groups.list({ prefix: group })).groups).toEqual([])
    })

    it('of a transaction of the user is a code, too', async () => {
      const source = userSource(context.url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const store = await attachStore(source, { sweep: false, publish: false })
      context.afterwards(() => store.close())
      const group = context.unique()
      const append = (number: number) =>
        source.transaction(({ queryRunner }) =>
          store.within(queryRunner as never).groups.append(group, { member: `error ${number}` }),
        )
      expect((await refusal(append(1114))).code).toBe('database_unavailable')
      expect((await refusal(append(1142))).code).toBe('database_refused')
      expect((await store.groups.list({ prefix: group })).groups).toEqual([])
    })

    it.each([
      ...[['1021', true] as const, ['1114', true] as const, ['3675', true] as const],
      ['1030 Got error 28 from storage engine', true] as const,
      ['1026 (Errcode: 28 "No space left")', true] as const,
      ...[['1030 Got error 122', false] as const, ['1317', false] as const, ['1213 28', false] as const],
    ])('%s says whether the disk is full: %s', async (words, isFull) => {
      const store = await context.open()
      const reports: unknown[] = []
      const other = await context.open({ onBackgroundError: (_error, doing) => reports.push(doing) })
      const work = (tx: Transaction) => tx.groups.append(context.unique(), { member: `error ${words}` })
      for (const each of [store, other]) await refusal(each.transaction(work, { retries: 0 }))
      await refusal(other.groups.append(context.unique(), { member: `error ${words}` }))
      expect([store, other].map((each) => innerOf(each).counts().isDiskFull)).toEqual([isFull, isFull])
      expect(reports).toEqual(isFull ? ['write'] : [])
    })

    it('of a full disk is not tried again at once; a lost connection is', async () => {
      const tries = async (number: number) => {
        let runs = 0
        const work = store.transaction(async (tx) => {
          runs++
          await tx.groups.append(context.unique(), { member: `error ${number}` })
        })
        expect((await refusal(work)).code).toBe('database_unavailable')
        return runs
      }
      const store = await context.open()
      expect([await tries(1114), await tries(1047)]).toEqual([1, 3])
      expect(Object.keys(innerOf(store).counts().failures).sort()).toEqual(['1047', '1114'])
      expect(innerOf(store).counts().isDiskFull).toBe(true)
    })
  })

  describe('a COMMIT that the server answers with an error', () => {
    /** A store whose next COMMIT is this procedure. Its name is as long as to fit into the word. */
    async function committingBy(name: string, body: string): Promise<Store> {
      await query(`CREATE PROCEDURE ${name}() BEGIN ${body}; END`)
      context.afterwards(() => query(`DROP PROCEDURE ${name}`))
      const proxy = await CuttingProxy.before(context.url)
      context.afterwards(() => proxy.close())
      const store = await context.open({ url: proxy.through(context.url) })
      await store.groups.append(context.unique())
      proxy.rewrite('COMMIT', `CALL ${name}`, 1)
      return store
    }
    const raise = (number: number) =>
      `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${number}, MESSAGE_TEXT = 'Got error 28 during COMMIT'`

    it.each([
      ['1180 and has not committed', `ROLLBACK; ${raise(1180)}`],
      ['1180 and has committed', `COMMIT; ${raise(1180)}`],
      ['3100 and has committed', `COMMIT; ${raise(3100)}`],
      ['3101 and has not committed', `ROLLBACK; ${raise(3101)}`],
      ['3101 and has committed', `COMMIT; ${raise(3101)}`],
      ['1026 and has committed', `COMMIT; ${raise(1026)}`],
    ])('%s: an append is stored once', async (_, body) => {
      const store = await committingBy('a', body)
      const group = context.unique()
      expect((await store.groups.append(group)).id).toBe(0n)
      expect((await store.groups.recent(group)).totalAppended).toBe(1n)
    })

    it.each(REFUSALS)('%i and has not committed: work of the user is refused, not in doubt', async (number) => {
      const store = await committingBy('c', `ROLLBACK; ${raise(number)}`)
      const group = context.unique()
      const work = store.transaction((tx) => tx.groups.append(group), { retries: 0 })
      expect((await refusal(work)).code).toBe('database_unavailable')
      expect((await store.groups.list({ prefix: group })).groups).toEqual([])
    })

    it('3101, and no statement after it: the outcome of work of the user is not known', async () => {
      const store = await committingBy('e', `COMMIT; ${raise(3101)}`)
      const group = context.unique()
      let runs = 0
      const work = store.transaction(async (tx) => {
        if (++runs > 1) await tx.manager.query("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290")
        await tx.groups.append(group)
      })
      expect([(await refusal(work)).code, runs]).toEqual(['outcome_unknown', 2])
    })

    it('1114 and has not committed: an append is refused, and not stored', async () => {
      const store = await committingBy('b', `ROLLBACK; ${raise(1114)}`)
      const group = context.unique()
      expect((await refusal(store.groups.append(group))).code).toBe('database_unavailable')
      expect((await store.groups.append(group)).id).toBe(0n)
    })

    it.each([1180, 1114])('%i: the outcome of work of the user is not known', async (number) => {
      const store = await committingBy('d', `COMMIT; ${raise(number)}`)
      const group = context.unique()
      expect((await refusal(store.transaction((tx) => tx.groups.append(group)))).code).toBe('outcome_unknown')
      expect((await store.groups.recent(group)).totalAppended).toBe(1n)
    })
  })

  describe('a statement that commits by itself and that the server refuses', () => {
    const raise = (number: number, event: string) =>
      query(
        `CREATE TRIGGER refuse_${event} BEFORE ${event} ON recentn_queue_messages FOR EACH ROW
         IF OLD.body = '"refused"' THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${number}; END IF`,
      )
    const noMore = (event: string) => query(`DROP TRIGGER refuse_${event}`)

    it.each(REFUSALS)('with %i is database_unavailable, and is not looked for', async (number) => {
      const store = await context.open()
      const queue = context.unique()
      await store.queues.put(queue)
      await store.queues.send(queue, 'refused')
      const told = async (call: Promise<unknown>) => {
        const { code, message } = await refusal(call)
        return [code, message.includes('cannot be reached')]
      }
      await raise(number, 'UPDATE')
      const received = await told(store.queues.receive(queue)).finally(() => noMore('UPDATE'))
      const [message] = await store.queues.receive(queue)
      await raise(number, 'DELETE')
      const handle = (message as { receiptHandle: string }).receiptHandle
      const deleted = await told(store.queues.ackMany(queue, [handle])).finally(() => noMore('DELETE'))
      expect([received, deleted]).toEqual(Array(2).fill(['database_unavailable', true]))
      expect((await store.queues.ackMany(queue, [handle])).acked).toEqual([handle])
    })
  })

  describe('a statement that the server stops', () => {
    const tables = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `information_schema.CHARACTER_SETS ${name}`)
    const LONG = `SELECT COUNT(*) FROM ${tables.join(' JOIN ')}`

    it('by its limit is database_unavailable', async () => {
      const limit = isMariadb ? 'max_statement_time = 0.1' : 'max_execution_time = 100'
      // Another store: the setting stays on its connection.
      const store = await context.open({ poolSize: 1 })
      const work = store.transaction(async ({ manager }) => {
        await manager.query(`SET SESSION ${limit}`)
        await manager.query(LONG)
      })
      expect((await refusal(work)).code).toBe('database_unavailable')
    })

    it('because it was killed is database_unavailable, and the connection is used again', async () => {
      const store = await context.open({ poolSize: 1 })
      const idOf = async () => Number((await store.dataSource.query('SELECT CONNECTION_ID() AS id'))[0].id)
      const id = await idOf()
      const killed = refusal(store.transaction(({ manager }) => manager.query(LONG)))
      await eventually(30_000, 'the statement runs', async () =>
        (await sessionsOf(query)).some((one) => one.id === id && one.sql.includes('_SETS g')),
      )
      await query(`KILL QUERY ${id}`)
      expect((await killed).code).toBe('database_unavailable')
      expect(await idOf()).toBe(id)
    })
  })

  describe('an account', () => {
    async function account(limit = ''): Promise<{ url: string; name: string; admin: Store }> {
      const url = new URL(context.url)
      const name = `a${url.pathname.slice(-10)}${++accounts}`
      const admin = context.store
      await query(`CREATE USER ${name} IDENTIFIED BY 'secret'${limit}`)
      context.afterwards(() => query(`DROP USER ${name}`))
      await query(`GRANT ALL ON ${url.pathname.slice(1)}.* TO ${name}`)
      url.username = name
      url.password = 'secret'
      return { url: url.toString(), name, admin }
    }
    let accounts = 0

    it('that is locked is database_refused, until it is not', async () => {
      const { url, name } = await account()
      await query(`ALTER USER ${name} ACCOUNT LOCK`)
      const error = await refusal(context.open({ url }))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringMatching(/lock/i)])
      await query(`ALTER USER ${name} ACCOUNT UNLOCK`)
      await (await context.open({ url })).groups.append(context.unique())
    })

    it('with fewer connections than the pool is database_unavailable by name, and continues by itself', async () => {
      const { url } = await account(' WITH MAX_USER_CONNECTIONS 2')
      const store = await context.open({ url, sweep: false, publish: false })
      const group = context.unique()
      await store.groups.append(group)
      const held = await Promise.all([1, 2].map(() => store.dataSource.createQueryRunner()))
      await held[0]?.connect()
      await held[1]?.connect()
      const error = await refusal(store.groups.append(group))
      expect([error.code, error.message]).toEqual([
        'database_unavailable',
        expect.stringContaining('max_user_connections'),
      ])
      expect((await refusal(context.open({ url }))).message).toContain('max_user_connections')
      for (const runner of held) await runner.release()
      expect((await store.groups.append(group)).id).toBe(1n)
    })
  })

  it('a right that was taken away is database_refused, until it is given back', async () => {
    const url = new URL(context.url)
    const database = url.pathname.slice(1)
    const account = `u${database.slice(-12)}`
    await query(`CREATE USER ${account} IDENTIFIED BY 'secret'`)
    context.afterwards(() => query(`DROP USER ${account}`))
    await query(`GRANT ALL ON ${database}.* TO ${account}`)
    url.username = account
    url.password = 'secret'
    const store = await context.open({ url: url.toString(), poolSize: 1 })
    const group = context.unique()
    await store.groups.append(group)
    await query(`REVOKE INSERT, UPDATE, DELETE ON ${database}.* FROM ${account}`)
    const again = await context.open({ url: url.toString(), poolSize: 1, migrate: false })
    const error = await refusal(again.groups.append(group))
    expect([error.code, error.message]).toEqual(['database_refused', expect.stringMatching(/denied/)])
    expect((await again.groups.recent(group)).totalAppended).toBe(1n)
    await query(`GRANT ALL ON ${database}.* TO ${account}`)
    const granted = await context.open({ url: url.toString(), poolSize: 1 })
    expect((await granted.groups.append(group)).id).toBe(1n)
  })
}
