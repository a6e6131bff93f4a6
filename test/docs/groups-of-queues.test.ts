/** docs/coming-from/groups-of-queues.md: rows of the published recipe are moved, and what the page says of it is so. */
import { openStore, type Store } from 'recentn'
import { type Database, describeEngine, ENGINES, freshDatabase } from '../support/engines'
import { eventually } from '../support/timing'
import { blocksOf } from './support/pages'

const [move = ''] = blocksOf('docs/coming-from/groups-of-queues.md').map(({ code }) => code)

const CREATE = `CREATE TABLE q (id bigint NOT NULL, modulo bigint NOT NULL, kind varchar(20) NOT NULL, food varchar(40) NOT NULL,
  PRIMARY KEY (id, kind), UNIQUE (modulo, kind))`
const append = (kind: string, food: string) =>
  `REPLACE INTO q (id, modulo, kind, food) SELECT COALESCE(MAX(id), -1) + 1, (COALESCE(MAX(id), -1) + 1) % 5, '${kind}', '${food}' ` +
  `FROM q WHERE kind = '${kind}'`

describe.each(ENGINES)('groups of queues', (engine) => {
  describeEngine(engine, 'are moved', () => {
    let database: Database
    let store: Store
    const query = (sql: string) => store.dataSource.query(sql)

    beforeEach(async () => {
      database = await freshDatabase(engine)
      store = await openStore({ url: database.url })
      await query(CREATE)
      for (const food of ['apple', 'orange', 'peach', 'cherries', 'pear', 'banana']) await query(append('f', food))
      for (const food of ['okra', 'squash']) await query(append('v', food))
    })
    afterEach(async () => {
      await store.close()
      await database.drop()
    })

    const foods = async (group: string) => (await store.groups.recent(group)).items.map(({ payload }) => payload)

    it('once, in their order, although the statement runs twice', async () => {
      await store.policies.put('food:', { capacity: 5, mode: 'history' })
      for (let turn = 0; turn < 2; turn++) await query(move.trim().replace(/;$/, ''))
      await eventually(30_000, 'all rows are appended', async () => {
        const [left] = await query('SELECT COUNT(*) AS n FROM recentn_appends')
        return Number(left.n) === 0
      })
      const fruit = ['banana', 'pear', 'cherries', 'peach', 'orange'].map((food) => ({ food }))
      expect([await foods('food:f'), await foods('food:v')]).toEqual([fruit, [{ food: 'squash' }, { food: 'okra' }]])
    }, 60_000)

    it('a trigger on the table cannot trim it: error 1442', async () => {
      const isServer = engine !== 'sqlite'
      const trim = "DELETE FROM q WHERE kind = 'f' AND id = 1"
      await query(`CREATE TRIGGER trimmed AFTER INSERT ON q FOR EACH ROW ${isServer ? trim : `BEGIN ${trim}; END`}`)
      const inserted = query("INSERT INTO q (id, modulo, kind, food) VALUES (6, 6, 'f', 'kiwi')")
      // SQLite can.
      if (isServer) await expect(inserted).rejects.toMatchObject({ errno: 1442 })
      else await inserted
      const [left] = await query("SELECT COUNT(*) AS n FROM q WHERE kind = 'f'")
      expect(Number(left.n)).toBe(5)
    })
  })
})
