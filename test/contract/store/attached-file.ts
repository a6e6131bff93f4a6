/** The query runner of a user's SQLite file, which waits for the store without a change of its methods. */
import {
  DataSource,
  type DataSourceOptions,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  type InsertEvent,
  PrimaryColumn,
} from 'typeorm'
import { attachStore } from '../../../src/index'
import { moment } from '../../support/timing'
import { type Context, sleep, userSource } from '../context'

@Entity({ name: 'user_notes' })
class UserNote {
  @PrimaryColumn({ type: 'varchar', length: 100 })
  text!: string
}

@EventSubscriber()
class Announced implements EntitySubscriberInterface<UserNote> {
  listenTo() {
    return UserNote
  }

  /** The first write of the transaction. */
  async beforeInsert({ queryRunner, entity }: InsertEvent<UserNote>) {
    await queryRunner.query('INSERT INTO user_notes (text) VALUES (?)', [`soon: ${entity?.text}`])
  }
}

export function describeAttachedFile(context: Context): void {
  if (context.engine !== 'sqlite') return // the servers' pools have a connection for each caller

  const user = async (more: Partial<DataSourceOptions> = {}) => {
    const source = new DataSource({ ...userSource(context.url, [UserNote]).options, ...more } as DataSourceOptions)
    await source.initialize()
    context.afterwards(() => source.destroy())
    return source
  }

  it('an attached file keeps its query runner, and has it back when its stores are closed', async () => {
    const source = await user()
    const runner = source.createQueryRunner()
    const [first, second] = [await attachStore(source), await attachStore(source)]
    const given = source.createQueryRunner()
    expect(given).not.toBe(runner)
    expect(given.manager.queryRunner).toBe(given)
    expect([runner, given].filter((one) => Object.hasOwn(one, 'query'))).toEqual([])
    await first.close()
    expect(source.createQueryRunner()).toBe(given)
    await second.close()
    expect(source.createQueryRunner()).toBe(runner)
  })

  it('an attached file: the first write of an event waits for the store, without blocking the process', async () => {
    const source = await user({ subscribers: [Announced] })
    await source.query('CREATE TABLE user_notes (text varchar(100) NOT NULL PRIMARY KEY)')
    context.afterwards(() => source.query('DROP TABLE user_notes'))
    const store = await attachStore(source, { sweep: false })
    context.afterwards(() => store.close())
    const [begun, over] = [moment(), moment()]
    const ours = store.transaction(async (tx) => {
      await tx.groups.append(context.unique())
      begun.come()
      await over.reached
    })
    await begun.reached
    const saving = source.getRepository(UserNote).insert({ text: 'a note' })
    // Blocked, the process would have run no timers, and the write would have failed.
    for (let turn = 0; turn < 10; turn++) await sleep(5)
    expect(await source.query('SELECT text FROM user_notes')).toEqual([])
    over.come()
    await Promise.all([ours, saving])
    expect(await source.query('SELECT text FROM user_notes ORDER BY text')).toEqual([
      { text: 'a note' },
      { text: 'soon: a note' },
    ])
  })
}
