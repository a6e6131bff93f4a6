import type { QueryRunner } from 'typeorm'
import type { Context } from '../context'
import { later } from './gathering'

/** Foreign statements on one of the store's connections that others got by TypeORM's `connect()`. */
export function describeHeldConnections(context: Context): void {
  if (context.engine === 'sqlite') return

  describe('a connection that is got from TypeORM', () => {
    /** How others use the connection of a transaction: mysql2 itself, Drizzle, Kysely. */
    interface Held {
      promise(): { query(sql: string, values?: unknown[]): Promise<[{ payload: string }[]]> }
    }
    const [note, fail] = ['INSERT INTO held VALUES (?)', "SIGNAL SQLSTATE '45000'"]
    beforeAll(() => context.store.dataSource.query('CREATE TABLE held (note VARCHAR(200))'))
    const notes = (like: string) =>
      context.store.dataSource.query('SELECT note FROM held WHERE note LIKE ?', [`${like}%`])
    const connectionOf = async (runner: QueryRunner): Promise<ReturnType<Held['promise']>> =>
      ((await runner.connect()) as Held).promise()

    it('is in the transaction: what is written on it goes with a rollback', async () => {
      const name = context.unique()
      const work = context.store.transaction(async ({ manager }) => {
        const connection = await connectionOf(manager.queryRunner as QueryRunner)
        await connection.query(note, [name])
        throw new Error('mine')
      })
      await expect(work).rejects.toThrow('mine')
      expect(await notes(name)).toEqual([])
    })

    it('that was got before the transaction is in it, too', async () => {
      const name = context.unique()
      const runner = context.store.dataSource.createQueryRunner()
      const connection = await connectionOf(runner)
      await runner.startTransaction()
      await connection.query(note, [`${name}1`])
      await runner.rollbackTransaction()
      await runner.startTransaction()
      await connection.query(note, [`${name}2`])
      await runner.commitTransaction()
      await runner.startTransaction()
      await runner.rollbackTransaction()
      await connection.query(note, [`${name}3`])
      await runner.release()
      expect(await notes(name)).toEqual([{ note: `${name}2` }, { note: `${name}3` }])
    })

    it('sees what was given before, and is not given out after its failure', async () => {
      const name = context.unique()
      await context.store.transaction(async ({ manager, groups }) => {
        const runner = manager.queryRunner as QueryRunner
        await later(runner, `INSERT INTO held VALUES ('${name}1')`)
        const connection = await connectionOf(runner)
        const [before] = await connection.query('SELECT note FROM held WHERE note LIKE ?', [`${name}%`])
        expect(before).toHaveLength(1)
        await groups.append(name, { payload: 'seen' })
        const [rows] = await connection.query('SELECT payload FROM recentn_items WHERE payload = \'"seen"\'')
        expect(rows).toHaveLength(1)
        await manager.transaction((inner) => inner.query(note, [`${name}2`]))
      })
      expect(await notes(name)).toHaveLength(2)
      const failing = context.store.transaction(async ({ manager }) => {
        await later(manager.queryRunner as QueryRunner, fail)
        await connectionOf(manager.queryRunner as QueryRunner)
      })
      await expect(failing).rejects.toThrow(/45000|Unhandled user-defined/)
    })
  })
}
