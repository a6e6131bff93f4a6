import { DataSource, type DataSourceOptions } from 'typeorm'
import { locationOf } from '../../../src/database/opening/location'
import { attachStore, openStore } from '../../../src/index'
import { CuttingProxy } from '../../support/cutting-proxy'
import { type Context, refusal, userSource } from '../context'

/** Where the data is, as it is shown and told: without user and password. */
export function describeLocation(context: Context): void {
  const isSqlite = context.engine === 'sqlite'
  const hostOf = (url: string) => new URL(url).host
  const databaseOf = (url: string) => new URL(url).pathname.slice(1)

  describe('the location of a store', () => {
    it('is that of its URL', () => {
      const { location } = context.store
      if (isSqlite) expect(location).toBe(`${context.url.replace('sqlite:', '')} (SQLite)`)
      else expect(location).toBe(context.url.replace(/\/\/.*@/, '//'))
    })

    it('is where an attached DataSource is connected, however that was given to it', async () => {
      if (isSqlite) return // a file has one way to be given
      const { hostname: host, port, username, password } = new URL(context.url)
      const database = databaseOf(context.url)
      const parts = { host, port: Number(port), username, password, database }
      const url = context.url.replace(/^mariadb:/, 'mysql:')
      const ways: object[] = [
        { url },
        parts,
        { ...parts, host: 'elsewhere.example', database: 'other', url },
        { ...parts, host: 'elsewhere.example', extra: { host } },
        { replication: { master: { url }, slaves: [parts] } },
        { replication: { master: parts, slaves: [{ url }] } },
      ]
      for (const way of ways) {
        const source = new DataSource({ ...userSource(url).options, url: undefined, ...way } as DataSourceOptions)
        await source.initialize()
        context.afterwards(() => source.destroy())
        const store = await attachStore(source, { sweep: false, publish: false })
        context.afterwards(() => store.close())
        await store.ping()
        const of = 'replication' in way ? ' (the primary of a replication)' : ''
        expect(store.location).toBe(`mysql://${hostOf(url)}/${database}${of}`)
      }
    })

    it.each([
      [{ type: 'mariadb' }, 'mariadb://localhost:3306/'],
      [{ type: 'mysql', url: 'mysql://u:pass%40word@db.example/shop?x=1' }, 'mysql://db.example:3306/shop'],
      [{ type: 'mysql', host: '::1', database: 'shop' }, 'mysql://[::1]:3306/shop'],
      [{ type: 'mysql', socketPath: '/run/my.sock', database: 'shop' }, 'mysql:/run/my.sock (socket), database shop'],
    ])('of %j is %s', (options, location) => {
      expect(locationOf({ username: 'user', password: 'secret', ...options } as DataSourceOptions)).toBe(location)
    })
  })

  describe('a database that cannot be reached', () => {
    it('is named when a store is opened on it', async () => {
      const error = await refusal(openStore({ url: 'mysql://nobody:secret@127.0.0.1:1/shop' }))
      expect(error.code).toBe('database_unavailable')
      expect(error.message).toMatch(/^The database mysql:\/\/127\.0\.0\.1:1\/shop cannot be reached: .*ECONNREFUSED/)
      expect(error.message).not.toMatch(/nobody|secret/)
    })

    it('is named when it goes away, by calls and within a transaction', async () => {
      if (isSqlite) return // which is a part of this process
      const proxy = await CuttingProxy.before(context.url)
      const url = proxy.through(context.url)
      const source = userSource(url)
      await source.initialize()
      const store = await attachStore(source, { sweep: false, publish: false })
      context.afterwards(async () => {
        await store.close()
        await source.destroy()
        await proxy.close()
      })
      const group = context.unique()
      const said = new RegExp(`^The database mysql://${hostOf(url)}/${databaseOf(url)} cannot be reached: .`)
      await source
        .transaction(async (manager) => {
          await store.within(manager).groups.append(group)
          proxy.refuse()
          const lost = await refusal(store.within(manager).groups.append(group))
          expect([lost.code, lost.message]).toEqual(['database_unavailable', expect.stringMatching(said)])
          throw lost
        })
        .catch(() => {})
      const gone = await refusal(store.groups.recent(group))
      expect([gone.code, gone.message]).toEqual(['database_unavailable', expect.stringMatching(said)])
    })

    it.each(['mysql://h', 'postgres://u:secret@h/x', 'sqlite:', 'mysql://u:secret@h/x?ssl=1'])(
      'is none where the URL %s is wrong: the option is named, and no variable',
      async (url) => {
        const { code, message, faults } = await refusal(openStore({ url }))
        expect([code, new Set(faults.map(({ pointer }) => pointer))]).toEqual(['invalid_input', new Set(['/url'])])
        expect(message).toMatch(/^\/url: /)
        expect(message).not.toMatch(/DATABASE_URL|secret/)
      },
    )
  })
}
