import { engineOf, sessionOf } from '../../../src/database/attached/attach'
import { MEMBERS } from '../../../src/database/mysql/server-hosts'
import { migrate } from '../../../src/database/schema/migrate'
import { createApp } from '../../../src/http/process/app'
import { listen } from '../../../src/http/process/listen'
import { openStore, type Store } from '../../../src/index'
import { clientOf } from '../../http/support/client'
import { CuttingProxy } from '../../support/cutting-proxy'
import { type Context, eventually, refusal } from '../context'

const QUESTION = "SHOW VARIABLES WHERE Variable_name IN ('wsrep_on', 'group_replication_group_name')"
const ANSWER = "SELECT 'group_replication_group_name' AS Variable_name, 'x' AS Value"
const SETTING = 'SESSION group_replication_consistency = '
const OPTIONS = { sweep: false, publish: false, tick: false } as const

/** The answer of the first member of a group about all, or the one at `own`. */
const listed = (states: string[], own = 0) =>
  states
    .map((state, at) => `SELECT ${Number(at === own)} isOwn, '${state}' state, '' role, 'm${at}' address`)
    .join(' UNION ')

/** A store on a server that says it is a member of a MySQL group; real ones are in test/cluster. */
export function describeGroupMembers(context: Context): void {
  if (context.engine !== 'mysql') return

  async function member(url: string, states: string[], own?: number): Promise<{ proxy: CuttingProxy; url: string }> {
    const proxy = await CuttingProxy.before(url)
    context.afterwards(() => proxy.close())
    proxy.rewrite(QUESTION, ANSWER)
    proxy.rewrite(MEMBERS, listed(states, own))
    proxy.rewrite('SET @recentn_before = @@SESSION.group_replication_consistency', 'DO 0')
    for (const value of ["'BEFORE'", '@recentn_before']) proxy.rewrite(`SET ${SETTING}${value}`, 'DO 0')
    return { proxy, url: proxy.through(url) }
  }

  const listOf = (first: string, second: string) => {
    const { host } = new URL(first)
    return first.replace(host, `${host},${new URL(second).host}`)
  }

  /** Opens a store, which is closed after the test. */
  function opening(url: string): { store: Promise<Store>; isOpen: () => boolean } {
    let isOpen = false
    const store = openStore({ url, ...OPTIONS }).finally(() => {
      isOpen = true
    })
    context.afterwards(async () => (await store).close())
    return { store, isOpen: () => isOpen }
  }

  describe('on a member of a group with several primaries', () => {
    it('another than the first waits for the tables, and warns of it', async () => {
      const url = await context.emptyDatabase()
      const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
      try {
        const { store, isOpen } = opening((await member(url, ['ONLINE', 'ONLINE'], 1)).url)
        await eventually(20_000, 'it warns', () => warned.mock.calls.length > 0)
        expect(warned.mock.calls).toEqual([
          [expect.stringMatching(/run on its member m0 only.*"recentn migrate"/), { code: 'RECENTN_MIGRATION' }],
        ])
        expect([isOpen(), await context.store.dataSource.query(tablesOf(url))]).toEqual([false, []])
        await opening((await member(url, ['ONLINE', 'ONLINE'])).url).store
        expect((await (await store).groups.append('g')).id).toBe(0n)
        expect(warned).toHaveBeenCalledTimes(1)
      } finally {
        warned.mockRestore()
      }
    })

    it.each<[string, string[]]>([
      ['has gone', ['ONLINE', 'ONLINE']],
      ['is in the group again, and has to catch up', ['RECOVERING', 'ONLINE']],
    ])('the next one migrates when the first %s', async (_, then) => {
      const url = await context.emptyDatabase()
      const { proxy, url: through } = await member(url, ['UNREACHABLE', 'ONLINE', 'ONLINE'], 1)
      const sent = proxy.record()
      const { store } = opening(through)
      await eventually(20_000, 'it asks again', () => sent.filter((sql) => sql === MEMBERS).length > 2)
      // The work that the first one has begun may still arrive.
      expect(sent.filter((sql) => sql.startsWith('CREATE'))).toEqual([])
      proxy.rewrite(MEMBERS, listed(then, then.indexOf('ONLINE')))
      expect((await (await store).groups.append('g')).id).toBe(0n)
    })

    it('goes to the first one where the URL has it, and comes back', async () => {
      const url = await context.emptyDatabase()
      const second = await member(url, ['ONLINE', 'ONLINE'], 1)
      const first = await member(url, ['ONLINE', 'ONLINE'])
      const sent = [second, first].map(({ proxy }) => proxy.record())
      const store = await opening(listOf(second.url, first.url)).store
      await store.groups.append('g')
      const [ofSecond, ofFirst] = sent.map((all) => all.filter((sql) => sql.startsWith('CREATE TABLE')).length)
      expect([ofSecond, (ofFirst ?? 0) > 10]).toEqual([0, true])
      expect([second.proxy.size > 0, first.proxy.size]).toEqual([true, 0])
    })

    it('says where migrations must run when they have not run in time', async () => {
      const { dataSource } = await context.open({ url: (await member(context.url, ['ONLINE', 'ONLINE'], 1)).url })
      await dataSource.query('RENAME TABLE recentn_schema TO kept')
      context.afterwards(() => context.store.dataSource.query('RENAME TABLE kept TO recentn_schema'))
      const error = await refusal(migrate(dataSource, sessionOf(context.store.dataSource), engineOf(dataSource), 1))
      expect([error.code, error.message]).toEqual([
        'database_unavailable',
        expect.stringMatching(/its member m0 only.* within 1 s: run "recentn migrate" with the address of that member/),
      ])
    })

    it('migrates as on one server where the account may not see the members', async () => {
      const url = await context.emptyDatabase()
      const { proxy, url: through } = await member(url, ['ONLINE', 'ONLINE'], 1)
      proxy.rewrite(MEMBERS, 'SELECT 1 FROM mysql.none')
      expect((await (await opening(through).store).groups.append('g')).id).toBe(0n)
    })
  })

  describe('a member without a majority', () => {
    it('is not ready, says why, and is ready again', async () => {
      const { proxy, url } = await member(context.url, ['ONLINE', 'ONLINE', 'ONLINE'])
      const store = await context.open({ url })
      const server = await listen(createApp(store, { allowAnonymous: true, onError: () => {} }), '127.0.0.1', 0)
      const status = async () => (await clientOf(server.url).get('/readyz')).status
      try {
        const statuses = [await status()]
        proxy.rewrite(MEMBERS, listed(['ONLINE', 'ONLINE', 'UNREACHABLE']))
        statuses.push(await status())
        proxy.rewrite(MEMBERS, listed(['ONLINE', 'UNREACHABLE', 'UNREACHABLE']))
        statuses.push(await status())
        const { code, message } = await refusal(store.ping())
        proxy.rewrite(MEMBERS, listed(['ONLINE', 'ONLINE', 'ONLINE']))
        expect([...statuses, code, await status()]).toEqual([200, 200, 503, 'database_unavailable', 200])
        expect(message).toMatch(/has no majority of its group: 2 of 3 members are UNREACHABLE/)
      } finally {
        await server.stop()
      }
    })

    it.each<[string, (store: Store, group: string, isLeft: () => Promise<void>) => Promise<unknown>]>([
      ['when it is asked whether it is ready', (store) => store.ping()],
      [
        'after a wait for a lock that did not end',
        async (store, group, isLeft) => {
          const waiting = await context.store.transaction(async (tx) => {
            await tx.groups.append(group)
            const append = store.groups.append(group)
            await isLeft()
            return [append]
          })
          await Promise.all(waiting)
        },
      ],
    ])('is left by a store with several hosts, %s', async (_, ask) => {
      const first = await member(context.url, ['ONLINE', 'ONLINE'])
      const second = await member(context.url, ['ONLINE', 'ONLINE'])
      const store = await context.open({ url: listOf(first.url, second.url), statementTimeoutSeconds: 3 })
      const group = context.unique()
      await store.groups.append(group)
      expect([first.proxy.size > 0, second.proxy.size]).toEqual([true, 0])
      first.proxy.rewrite(MEMBERS, listed(['ONLINE', 'UNREACHABLE']))
      const isLeft = () => eventually(20_000, 'its connections are closed', () => first.proxy.size === 0)
      await ask(store, group, isLeft)
      await isLeft()
      await store.groups.append(group)
      expect(second.proxy.size).toBeGreaterThan(0)
    })
  })
}

const tablesOf = (url: string) => `SHOW TABLES FROM ${new URL(url).pathname.slice(1)}`
