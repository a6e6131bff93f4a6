import type { Store } from '../../../src/index'
import { real } from '../../../src/shared/platform'
import { run } from '../../cli/support'
import { CuttingProxy } from '../../support/cutting-proxy'
import { sessionsOf } from '../../support/sessions'
import { type Context, refusal, sleep } from '../context'

const CHANGES = 10
const CALLERS = 8

/** Passwords beside the URL, as a text and by a function. */
export function describePasswords(context: Context): void {
  if (context.engine === 'sqlite') {
    it('takes no password', async () => {
      const error = await refusal(context.open({ password: 'secret' }))
      expect([error.code, error.message]).toEqual(['invalid_input', expect.stringContaining('password')])
    })
    return
  }

  const query = (sql: string) => context.store.dataSource.query(sql)
  let accounts = 0

  /** An account of the database, whose URL has no password. */
  async function account(password: string): Promise<{ url: string; name: string }> {
    const url = new URL(context.url)
    const name = `p${url.pathname.slice(-10)}${++accounts}`
    await query(`CREATE USER ${name} IDENTIFIED BY '${password}'`)
    context.afterwards(() => query(`DROP USER ${name}`))
    await query(`GRANT ALL ON ${url.pathname.slice(1)}.* TO ${name}`)
    url.username = name
    url.password = ''
    return { url: url.toString(), name }
  }

  async function killAll(name: string): Promise<void> {
    for (const { id, user } of await sessionsOf(query)) if (user === name) await query(`KILL ${id}`).catch(() => {})
  }

  /** The store's next call needs a new connection. */
  function closeIdle(store: Store): void {
    const { pool } = store.dataSource.driver as unknown as {
      pool: { _freeConnections: { length: number; get(at: number): { destroy(): void } } }
    }
    while (pool._freeConnections.length > 0) pool._freeConnections.get(0).destroy()
  }

  describe('a password beside the URL', () => {
    it('is taken as it is written', async () => {
      const { url } = await account('a%41:@/ b')
      expect((await (await context.open({ url, password: 'a%41:@/ b' })).groups.append(context.unique())).id).toBe(0n)
    })

    it('is what RECENTN_PASSWORD_COMMAND prints', async () => {
      const { url } = await account('right-0')
      const doctor = (command: string) =>
        run(['doctor'], { env: { DATABASE_URL: url, RECENTN_PASSWORD_COMMAND: command } })
      expect(await doctor('printf right-0')).toMatchObject({ code: 0, stdout: expect.stringContaining('ok') })
      expect(await doctor('echo no role >&2; false')).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/WRONG +connection.*RECENTN_PASSWORD_COMMAND: no role/),
      })
    })

    it('is refused beside one in the URL', async () => {
      const error = await refusal(context.open({ password: 'secret' }))
      expect([error.code, error.message]).toEqual(['invalid_input', expect.stringContaining('that of the URL')])
    })

    it('that changes again and again, while its connections are closed, fails no call', async () => {
      let password = 'first'
      let changing: Promise<unknown> = Promise.resolve()
      const { url, name } = await account(password)
      const store = await context.open({
        url,
        poolSize: 4,
        password: async () => {
          await changing
          return password
        },
      })
      const group = context.unique('passwords')
      await store.groups.put(group, { capacity: 10_000 })
      let isOn = true
      let stored = 0
      const callers = Array.from({ length: CALLERS }, async () => {
        for (; isOn; stored++) {
          await store.groups.append(group, { payload: stored })
          await store.groups.recent(group, { limit: 1 })
        }
      })
      let end = () => {}
      const ended = Promise.race([Promise.all(callers), new Promise<void>((resolve) => (end = resolve))])
      for (let n = 1; n <= CHANGES; n++) {
        const next = `other-${n}`
        changing = query(`ALTER USER ${name} IDENTIFIED BY '${next}'`).then(() => {
          password = next
        })
        await changing
        await killAll(name)
        await Promise.race([sleep(500), ended])
      }
      isOn = false
      await Promise.all(callers)
      end()
      expect(stored).toBeGreaterThan(CHANGES)
      expect((await store.groups.recent(group)).totalAppended).toBe(BigInt(stored))
    })

    it('is asked for once more when it is refused, and then fails by name', async () => {
      const { url } = await account('right-1')
      const answers = ['right-1']
      let asked = 0
      const store = await context.open({
        url,
        poolSize: 1,
        password: () => {
          asked++
          return answers.shift() ?? 'wrong-1'
        },
      })
      const group = context.unique('asked')
      answers.push('wrong-1', 'right-1')
      closeIdle(store)
      expect((await store.groups.append(group)).id).toBe(0n)
      expect(asked).toBe(3)
      closeIdle(store)
      const error = await refusal(store.groups.recent(group))
      expect([error.code, error.message, asked]).toEqual([
        'database_refused',
        expect.stringMatching(/^(?!.*wrong-1).*denied/i),
        5,
      ])
      answers.push('right-1')
      expect((await store.groups.append(group)).id).toBe(1n)
    })

    it.each<[string, () => unknown, string]>([
      ['throws', () => Promise.reject(new Error('no token')), 'the function of the password has failed: no token'],
      ['has no text', () => undefined, 'the function of the password has failed: its answer is not a text'],
      ['has no answer', () => new Promise(() => {}), 'the function of the password has failed: no answer within 5 s'],
    ])('whose function %s is as a database that is away', async (_, answer, said) => {
      const { url } = await account('right-2')
      let isRight = true
      const store = await context.open({
        url,
        poolSize: 1,
        password: () => (isRight ? 'right-2' : (answer() as string)),
      })
      isRight = false
      closeIdle(store)
      const wait = real.setTimeout
      real.setTimeout = ((run: () => void, ms?: number) => wait(run, ms === 5000 ? 50 : ms)) as typeof wait
      try {
        const error = await refusal(store.groups.append(context.unique()))
        expect([error.code, error.message]).toEqual(['database_unavailable', expect.stringContaining(said)])
      } finally {
        real.setTimeout = wait
      }
      isRight = true
      expect((await store.groups.append(context.unique())).id).toBe(0n)
    })

    it('is asked for before a host is tried: its failure passes over none, and one that hangs is passed over', async () => {
      const { url } = await account('right-3')
      const proxies = [await CuttingProxy.before(context.url), await CuttingProxy.before(context.url)] as const
      context.afterwards(async () => {
        for (const proxy of proxies) await proxy.close()
      })
      const list = proxies.map((proxy) => new URL(proxy.through(url)).host).join(',')
      let fails = false
      const store = await context.open({
        url: url.replace(new URL(url).host, list),
        poolSize: 1,
        password: async () => {
          if (fails) throw new Error('no token')
          return 'right-3'
        },
      })
      const sizes = () => proxies.map(({ size }) => size)
      expect(sizes()).toEqual([1, 0])
      fails = true
      closeIdle(store)
      expect((await refusal(store.groups.append(context.unique()))).message).toContain('no token')
      fails = false
      await store.groups.append(context.unique())
      expect(sizes()).toEqual([1, 0])
      proxies[0].hang()
      closeIdle(store)
      // A lone append waits for one host only.
      await store.groups.append(context.unique()).catch((error) => expect(error.code).toBe('database_unavailable'))
      await store.groups.append(context.unique())
      expect(proxies[1].size).toBe(1)
    })
  })
}
