/** The programs of the page on `@Transactional()`, as they are there. */
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { transformSync } from 'esbuild'
import { openStore, type Store } from 'recentn'
import { DataSource } from 'typeorm'
import { blocksOf } from '../../docs/support/pages'
import { describeEngine, type EngineName, freshDatabase } from '../../support/engines'
import { appSource } from './surrounded'

interface Orders {
  place(id: number, customer: string): Promise<void>
}

/** A function whose text may await. */
const Program = (async () => {}).constructor as new (...texts: string[]) => (...given: unknown[]) => Promise<unknown>

/** Runs the block of the page with this class; resolves to what is asked for of it. */
async function exported<T>(named: string, dataSource: DataSource, asked: string): Promise<T> {
  const block = blocksOf('docs/how-to/transactional.md').find(({ code }) => code.includes(`export class ${named} `))
  const { code } = transformSync(block?.code ?? '', {
    loader: 'ts',
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  })
  const program = code
    .replace(/^import (\{[^}]*\}) from (".*?");$/gm, 'const $1 = require($2);')
    .replace(/^export (\{[^}]*\};$)?/gm, '')
  return (await new Program('require', 'dataSource', `${program}\nreturn ${asked}`)(require, dataSource)) as T
}

export function describeTransactionalPage(engine: EngineName): void {
  describeEngine(engine, 'the page on @Transactional()', () => {
    let store: Store
    let dataSource: DataSource
    const undo: (() => Promise<unknown>)[] = []

    beforeAll(async () => {
      const database = await freshDatabase(engine)
      undo.push(() => database.drop())
      store = await openStore({ url: database.url, sweep: false, publish: false, tick: false })
      undo.push(() => store.close())
      dataSource = await appSource(require('typeorm'), {
        type: engine === 'sqlite' ? 'better-sqlite3' : 'mysql',
        ...(engine === 'sqlite'
          ? { database: database.url.slice('sqlite:'.length) }
          : { url: database.url.replace(/^mariadb:/, 'mysql:') }),
      })
      undo.push(() => dataSource.destroy())
      await dataSource.query('CREATE TABLE orders (id int NOT NULL PRIMARY KEY, customer varchar(100) NOT NULL)')
      await store.queues.ensure('mail')
    })

    afterAll(async () => {
      for (const step of undo.reverse()) await step()
    })

    /** The second order with a number fails at its row, the one without a customer too. */
    async function placeOrders(orders: Orders, first: number): Promise<void> {
      await orders.place(first, 'ann')
      await expect(orders.place(first, 'ben')).rejects.toThrow()
      await expect(orders.place(first + 1, null as never)).rejects.toThrow()
      expect(await dataSource.query('SELECT id, customer FROM orders WHERE id >= ?', [first])).toEqual([
        { id: first, customer: 'ann' },
      ])
      const mails = await store.queues.receive('mail', { limit: 10 })
      expect(mails.map(({ body }) => body)).toEqual([{ order: first }])
    }

    it('nestjs-cls', async () => {
      const provided = { provide: DataSource, useValue: dataSource }
      const database = { module: class Database {}, global: true, providers: [provided], exports: [provided] }
      const [OrdersModule, OrdersService, STORE] = await exported<[new () => object, new () => Orders, symbol]>(
        'OrdersModule',
        dataSource,
        '[OrdersModule, OrdersService, STORE]',
      )
      class App {}
      Module({ imports: [database, OrdersModule] })(App)
      const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false })
      undo.push(() => app.close())
      undo.push(() => app.get<Store>(STORE, { strict: false }).close())
      await placeOrders(app.get(OrdersService, { strict: false }), 1)
    })

    it('typeorm-transactional', async () => {
      const [Orders, attached] = await exported<[new () => Orders, Store]>('Orders', dataSource, '[Orders, store]')
      undo.push(() => attached.close())
      await placeOrders(new Orders(), 10)
    })
  })
}
