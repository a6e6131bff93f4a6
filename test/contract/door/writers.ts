import { createConnection } from 'mysql2/promise'
import { proceduresSql } from '../../../src/repositories/door/doors'
import { type Context, membersOf } from '../context'
import { bodiesIn, doorTools, leftIn, move } from './tools'

/** Writers of rows besides an INSERT of a program: triggers of the user's, and stored procedures. */
export function describeDoorWriters(context: Context): void {
  const { madeQueue, emptied } = doorTools(context)

  describe('the door: writers', () => {
    beforeEach(emptied)

    it("a trigger on a table of the user's sends with each row, and not with one that is rolled back", async () => {
      const { store } = context
      const { dataSource } = store
      const queue = await madeQueue()
      await dataSource.query('CREATE TABLE shop_orders (id integer NOT NULL PRIMARY KEY, total integer NOT NULL)')
      context.afterwards(() => dataSource.query('DROP TABLE shop_orders'))
      const sends = `INSERT INTO recentn_sends (queue, body) VALUES ('${queue}', JSON_OBJECT('order', NEW.id))`
      const body = context.engine === 'sqlite' ? `BEGIN ${sends}; END` : sends
      await dataSource.query(`CREATE TRIGGER shop_orders_sent AFTER INSERT ON shop_orders FOR EACH ROW ${body}`)
      await dataSource.query('INSERT INTO shop_orders (id, total) VALUES (1, 10), (2, 20)')
      const undone = dataSource.transaction(async (manager) => {
        await manager.query('INSERT INTO shop_orders (id, total) VALUES (3, 30)')
        throw new Error('rolled back')
      })
      await expect(undone).rejects.toThrow('rolled back')
      expect(await move(store)).toBe(2)
      expect(await bodiesIn(store, queue)).toEqual([{ order: 1 }, { order: 2 }])
    })

    it('rows of a store with a table prefix are those of its tables', async () => {
      const store = await context.open({ tablePrefix: 'door_' })
      await store.queues.put('q')
      await store.dataSource.query("INSERT INTO door_sends (queue, body) VALUES ('q', '1')")
      await store.dataSource.query("INSERT INTO door_appends (group_key) VALUES ('g')")
      expect(await move(store)).toBe(2)
      expect(await bodiesIn(store, 'q')).toEqual([1])
      expect((await store.groups.recent('g')).totalAppended).toBe(1n)
    })

    if (context.engine === 'sqlite') return

    it('procedures send and append for an account that may do nothing else, whatever its character set', async () => {
      const { store } = context
      const [queue, group] = [await madeQueue(), context.unique()]
      const database = new URL(context.url).pathname.slice(1)
      const root = await createConnection(context.url.replace(/^mariadb:/, 'mysql:'))
      context.afterwards(() => root.end())
      const user = `door_${Date.now()}`
      for (const sql of proceduresSql().split(/;\n/).filter(Boolean)) await root.query(sql)
      // Again, as an upgrade does.
      for (const sql of proceduresSql().split(/;\n/).filter(Boolean)) await root.query(sql)
      await root.query(`CREATE USER ${user}@'%' IDENTIFIED BY 'Secret-1-2-3'`)
      context.afterwards(() => root.query(`DROP USER ${user}@'%'`))
      for (const name of ['send', 'append']) {
        await root.query(`GRANT EXECUTE ON PROCEDURE ${database}.recentn_${name} TO ${user}@'%'`)
      }
      const { hostname, port } = new URL(context.url)
      const account = {
        host: hostname,
        port: Number(port),
        user,
        password: 'Secret-1-2-3',
        database,
        charset: 'latin1',
      }
      const writer = await createConnection(account)
      context.afterwards(() => writer.end())
      await writer.beginTransaction()
      await writer.query('CALL recentn_send(?, ?)', [queue, '{"to":"Zoë"}'])
      await writer.query('CALL recentn_append(?, ?, NULL)', [group, 'zoë'])
      expect(await move(store)).toBe(0)
      await writer.commit()
      await writer.beginTransaction()
      await writer.query('CALL recentn_send(?, ?)', [queue, '{"to":"nobody"}'])
      await writer.rollback()
      expect(await move(store)).toBe(2)
      expect(await bodiesIn(store, queue)).toEqual([{ to: 'Zoë' }])
      expect(membersOf(await store.groups.recent(group))).toEqual(['zoë'])
      expect(await leftIn(store, 'sends')).toEqual([])
      await expect(writer.query("INSERT INTO recentn_sends (queue, body) VALUES ('q', '1')")).rejects.toThrow(/denied/)
    })
  })
}
