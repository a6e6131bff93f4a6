import { LOOKS, MEMBERS } from '../../../src/database/mysql/server-hosts'
import { urlFault } from '../../../src/database/mysql/server-url'
import { openStore, type Store } from '../../../src/index'
import { CuttingProxy } from '../../support/cutting-proxy'
import { moment, stopwatch } from '../../support/timing'
import { type Context, eventually, refusal } from '../context'

const PASSING = ['database_unavailable', 'outcome_unknown', 'conflict', 'overloaded']
/** A call that hangs takes longer, on the busiest machine too. `npm run faults` measures. */
const HANGS_MS = 30_000
const CALLERS = 8
const READ_ONLY = "SELECT 'read_only' AS Variable_name, 'ON' AS Value"
const NOT_SYNCED = "SELECT 'wsrep_on' AS Variable_name, 'ON' AS Value UNION ALL SELECT 'wsrep_provider', 'x'"

/** The answer of the first of these members. */
const membersIn = (...states: string[]) =>
  states.map((state, at) => `SELECT ${at === 0 ? 1 : 0} AS isOwn, '${state}' AS state`).join(' UNION ALL ')

/** A URL with several hosts. */
export function describeSeveralHosts(context: Context): void {
  if (context.engine === 'sqlite') {
    describeUrls()
    return
  }

  /** Ways to the one server, as hosts of a URL. */
  async function hosts(): Promise<{ a: CuttingProxy; b: CuttingProxy; url: string; list: string }> {
    const [a, b] = [await CuttingProxy.before(context.url), await CuttingProxy.before(context.url)]
    context.afterwards(async () => {
      await a.close()
      await b.close()
    })
    const list = [a, b].map((proxy) => new URL(proxy.through(context.url)).host).join(',')
    return { a, b, list, url: context.url.replace(new URL(context.url).host, list) }
  }

  const open = (url: string, options = {}) => context.open({ url, poolSize: 4, ...options })
  const portsOf = (store: Store) => {
    const { pool } = store.dataSource.driver as unknown as { pool: { _allConnections: DriverConnections } }
    const { _allConnections: all } = pool
    return new Set(Array.from({ length: all.length }, (_, at) => all.get(at).config.port))
  }
  const portOf = (proxy: CuttingProxy) => Number(new URL(proxy.through(context.url)).port)

  describe('a store on several hosts', () => {
    it.each<[string, (a: CuttingProxy) => void]>([
      ['dies', (a) => a.refuse()],
      ['hangs', (a) => a.hang()],
    ])('goes to the next host when one %s, and stays there', async (_, end) => {
      const { a, b, url } = await hosts()
      const store = await open(url, { statementTimeoutSeconds: 1 })
      const group = context.unique('hosts')
      await store.groups.put(group, { capacity: 10_000 })
      const stored: string[] = []
      const unknown: string[] = []
      const others: string[] = []
      let isOn = true
      const isBack = moment()
      let isAway = false
      const callers = Array.from({ length: CALLERS }, async (_, caller) => {
        for (let n = 0; isOn; n++) {
          const member = `${caller}-${n}`
          await store.groups.append(group, { member }).then(
            () => {
              stored.push(member)
              if (isAway) isBack.come()
            },
            ({ code }) => {
              if (code === 'outcome_unknown') unknown.push(member)
              else if (!PASSING.includes(code)) others.push(code)
            },
          )
        }
      })
      try {
        await eventually(60_000, 'all call', () => stored.length > 50)
        expect([portsOf(store), b.size]).toEqual([new Set([portOf(a)]), 0])
        const watch = stopwatch()
        end(a)
        isAway = true
        await isBack.reached
        expect(watch.isBeyond(HANGS_MS)).toBe(false)
        const before = stored.length
        await eventually(60_000, 'all call again', () => stored.length > before + 50)
      } finally {
        isOn = false
        await Promise.all(callers)
      }
      for (let n = 0; n < 10; n++) await store.groups.recent(group)
      expect([others, portsOf(store)]).toEqual([[], new Set([portOf(b)])])
      const { items } = await context.store.groups.recent(group, { limit: 10_000 })
      const found = items.map(({ member }) => member as string)
      expect(new Set(found).size).toBe(found.length)
      const known = new Set(unknown)
      expect(found.filter((member) => !known.has(member)).sort()).toEqual(stored.sort())
    })

    it('opens on the next host when the first is away', async () => {
      const { a, b, url } = await hosts()
      a.refuse()
      const store = await open(url)
      await store.groups.append(context.unique())
      expect([a.size, b.size > 0]).toEqual([0, true])
    })

    it.each([
      ['takes no writes', LOOKS[0] as string, READ_ONLY],
      ['is a Galera node that is not Synced', LOOKS[0] as string, NOT_SYNCED],
      ['is a member that is not ONLINE', MEMBERS, "SELECT 1 AS isOwn, 'RECOVERING' AS state"],
      ['is a member without a majority', MEMBERS, membersIn('ONLINE', 'UNREACHABLE')],
    ])('passes over a host that %s', async (_, look, answer) => {
      if (look === MEMBERS && context.engine === 'mariadb') return // which has no such members
      const { a, b, url } = await hosts()
      a.rewrite(look, answer)
      const store = await open(url)
      await store.groups.append(context.unique())
      expect([a.size, b.size > 0]).toEqual([0, true])
    })

    it('leaves a host that takes no writes any more, with all connections', async () => {
      const { a, b, url } = await hosts()
      const store = await open(url)
      const group = context.unique()
      await store.groups.append(group)
      await Promise.all(Array.from({ length: 4 }, () => store.dataSource.query('SELECT SLEEP(0.05)')))
      expect([a.size > 0, b.size]).toEqual([true, 0])
      await store.dataSource.query(
        `CREATE PROCEDURE r() BEGIN ROLLBACK; SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT = 'read only'; END`,
      )
      a.rewrite(';\nCOMMIT', ';\nCALL r')
      a.rewrite(LOOKS[0] as string, READ_ONLY)
      expect(await store.groups.append(group)).toMatchObject({ id: 1n })
      await eventually(10_000, 'its connections are closed', () => a.size === 0)
      expect(b.size).toBeGreaterThan(0)
    })

    it('is database_unavailable when all are away, by all their names, and good when one is back', async () => {
      const { a, b, url, list } = await hosts()
      const store = await open(url)
      const group = context.unique()
      await store.groups.append(group)
      expect(store.location).toBe(`${new URL(context.url).protocol}//${list}${new URL(context.url).pathname}`)
      a.refuse()
      b.refuse()
      const error = await refusal(store.groups.recent(group))
      expect([error.code, error.message]).toEqual(['database_unavailable', expect.stringContaining(store.location)])
      expect((await refusal(openStore({ url }))).code).toBe('database_unavailable')
      await b.accept()
      expect((await store.groups.append(group)).id).toBe(1n)
    })
  })
}

interface DriverConnections {
  length: number
  get(at: number): { config: { port: number } }
}

function describeUrls(): void {
  it.each([
    ['mysql://u:p@a,b:3307,[::1]:3308/db', null],
    ['mysql://u:p@a,,b/db', 'names no host at place 2 of its list'],
    [
      'mariadb://a:3306,b:x,c:0/',
      /has an invalid host: b:… .*; has an invalid port for the host c .*; must be of the form/,
    ],
    ['mysql://a,a:3306/db', 'names the host a:3306 twice'],
    ['mysql://a,::1/db', /has an invalid host: ::1 \(an IPv6 address is written in brackets\)/],
    ['mysql://a,b/db?ssl=1#x', /takes no fragment; takes no parameters but/],
    ['mysql://a,b', /^names no database; must be of the form/],
    ['postgresql://a/b', 'must begin with sqlite:, mysql:// or mariadb://: PostgreSQL is not supported'],
    ['sqlite:data/recentn.db', null],
    ['sqlite:///srv/recentn.db', null],
    ['sqlite://recentn.db', /must name a file/],
  ])('the faults of the URL %s are %s', (url, faults) => {
    if (faults === null) expect(urlFault(url)).toBeNull()
    else expect(urlFault(url)).toMatch(faults)
  })

  it.each(['se#cret', 'se/cret', 'se?cret', '12/34', 'se/c?r#et', 'se@c/ret', 'secret%'])(
    'no fault shows a part of the password %s, with a host behind it or without',
    (password) => {
      for (const url of [
        `mysql://user:${password}@host/db`,
        `mysql://user:${password}@host`,
        'mysql://user:secret/db',
      ]) {
        const fault = urlFault(url)
        expect(fault).toEqual(expect.any(String))
        expect(fault).not.toMatch(/se[c#@]|cret|34/)
      }
    },
  )
}
