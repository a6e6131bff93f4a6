import { ChildEntity, Column, DeleteDateColumn, Entity, PrimaryColumn, TableInheritance } from 'typeorm'
import { attachStore, type PollOptions } from '../../../src/index'
import { type Context, refusal, userSource } from '../context'
import { type NumberedRow, pollTools } from './tools'

@Entity({ name: 'polled_people' })
@TableInheritance({ column: { name: 'kind', type: 'varchar', length: 20 } })
class Person {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 30 })
  status!: string
}

@ChildEntity()
class Student extends Person {}

@ChildEntity('teaches')
class Teacher extends Person {}

@ChildEntity()
class Head extends Teacher {}

@Entity({ name: 'polled_drafts' })
class Draft {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null
}

const TIMEOUT_SECONDS = 60
/** Longer than `once` takes on any machine: it continues with rows that become due. */
const BACKOFF_SECONDS = 30

/** Several pollers of one table, and rows that a poller has to do with at one time and not at another. */
export function describePollPurposes(context: Context): void {
  const { query, tableOf, poll, numbersWhere, holding } = pollTools(context)
  const later = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }
  const made = (columns: string, rows = 3) => tableOf({ title: '', columns, row: { id: 'N' }, options: {} }, rows)
  const STATUS = "status varchar(30) DEFAULT 'ready'"
  const handled = async (name: string, options: PollOptions<NumberedRow>) => {
    const { handler, begun, letGo } = holding()
    letGo()
    await poll(name, handler, options).once()
    return begun.sort((a, b) => a - b)
  }

  describe('polls: two purposes on one table', () => {
    const OTHERS: [string, PollOptions<NumberedRow>, PollOptions<NumberedRow>][] = [
      ['two statuses', { status: 'status' }, { status: 'mailed' }],
      ['two steps', { status: { column: 'status', done: 'paid' } }, { status: { column: 'status', ready: 'paid' } }],
      ['two keys', {}, { key: 'other' }],
      ['remembering and deleting', {}, { onDone: 'delete' }],
      ['two conditions with a cursor', { sequence: 'id', where: 'n > 0' }, { sequence: 'id', where: 'n = 0' }],
    ]
    it.each(OTHERS)('need two names: %s', async (_, first, second) => {
      const columns = `id integer NOT NULL PRIMARY KEY, other integer NOT NULL DEFAULT 0, ${STATUS}, mailed varchar(30) DEFAULT 'ready'`
      const name = await made(columns)
      await query(`UPDATE ${name} SET other = id`)
      await query(`CREATE UNIQUE INDEX ${name}_other ON ${name} (other)`)
      await poll(name, () => {}, first).once()
      const error = await refusal(poll(name, () => {}, second).once())
      expect(error).toMatchObject({ code: 'invalid_input', faults: [{ pointer: '/name' }] })
      expect(error.message).toMatch(/is there for another purpose/)
      // The first continues, and the other too, under its own name.
      await poll(name, () => {}, first).once()
      await poll(name, () => {}, { ...second, name: `${name} second` }).once()
      // A poller whose `where` has changed says so.
      await query(error.message.slice(error.message.indexOf('UPDATE recentn_polls')))
      await poll(name, () => {}, second).once()
      expect((await refusal(poll(name, () => {}, first).once())).code).toBe('invalid_input')
    })

    it('one name for two tables is refused', async () => {
      const [one, two] = [await made('id integer NOT NULL PRIMARY KEY'), await made('id integer NOT NULL PRIMARY KEY')]
      const name = `${one} of both`
      await poll(one, () => {}, { name }).once()
      expect((await refusal(poll(two, () => {}, { name }).once())).message).toMatch(two)
    })

    it('a poll from before polls had purposes takes that of the poller that comes first', async () => {
      const name = await made('id integer NOT NULL PRIMARY KEY')
      expect(await handled(name, {})).toEqual([0, 1, 2])
      await query(`UPDATE recentn_polls SET purpose = NULL, where_digest = NULL WHERE poll = '${name}'`)
      expect(await handled(name, {})).toEqual([])
      expect((await refusal(poll(name, () => {}, { onDone: 'delete' }).once())).code).toBe('invalid_input')
    })

    it('the same poller may change its where: what it did is remembered, and it is warned', async () => {
      const name = await made('id integer NOT NULL PRIMARY KEY', 6)
      const warnings: string[] = []
      const onWarning = (warning: string) => warnings.push(warning)
      expect(await handled(name, { where: 'n < 3', onWarning })).toEqual([0, 1, 2])
      expect(await handled(name, { where: 'n < 3', onWarning })).toEqual([])
      expect(warnings).toEqual([])
      expect(await handled(name, { where: 'n < 5', onWarning })).toEqual([3, 4])
      expect(warnings).toEqual([expect.stringMatching(/another where.*two names/i)])
      expect(await handled(name, { where: 'n < 5', onWarning })).toEqual([])
      expect(warnings).toHaveLength(1)
    })

    it('of one status and two conditions never take each other’s rows', async () => {
      const name = await made(`id integer NOT NULL PRIMARY KEY, ${STATUS}`, 4)
      const slow = holding()
      const late = poll(name, slow.handler, { status: 'status', where: 'n < 2', concurrency: 2 }).once()
      await slow.until(2)
      expect(await handled(name, { status: 'status', where: 'n >= 2' })).toEqual([2, 3])
      later(TIMEOUT_SECONDS + 1)
      expect(await handled(name, { status: 'status', where: 'n >= 2' })).toEqual([])
      // It was looked at, and is looked at again a timeout later.
      later(TIMEOUT_SECONDS + 1)
      expect(await handled(name, { status: 'status', where: 'n < 2' })).toEqual([0, 1])
      slow.letGo()
      expect(await late).toMatchObject({ lost: 2 })
      expect(await numbersWhere(name, "status = 'done'")).toEqual([0, 1, 2, 3])
    })
  })

  describe('polls: a row that where leaves out between two attempts', () => {
    it.each([
      ['without a status', {}],
      ['with a status', { status: 'status' }],
    ])('%s waits, and counts on when it is let in again', async (_, options) => {
      const name = await made(`id integer NOT NULL PRIMARY KEY, ${STATUS}, held integer DEFAULT 0`, 2)
      const attempts: string[] = []
      const fails = ({ n }: NumberedRow, { attempt }: { attempt: number }) => {
        attempts.push(`${n}/${attempt}`)
        throw new Error('no')
      }
      const backoff = { minSeconds: BACKOFF_SECONDS, maxSeconds: BACKOFF_SECONDS }
      const poller = poll(name, fails, { ...options, where: { held: 0 }, backoff, maxAttempts: 3 })
      await poller.once()
      await query(`UPDATE ${name} SET held = 1 WHERE n = 0`)
      later(BACKOFF_SECONDS + 5)
      expect(await poller.once()).toMatchObject({ claimed: 1 })
      expect(attempts.sort()).toEqual(['0/1', '1/1', '1/2'])
      await query(`UPDATE ${name} SET held = 0`)
      later(TIMEOUT_SECONDS + 5)
      await poller.once()
      expect(attempts.sort()).toEqual(['0/1', '0/2', '1/1', '1/2', '1/3'])
    })

    it.each([
      ['without a status', {}],
      ['with a status', { status: 'status' }],
    ])('%s is not given up while it is left out', async (_, options) => {
      const name = await made(`id integer NOT NULL PRIMARY KEY, ${STATUS}, held integer DEFAULT 0`, 2)
      const slow = holding()
      const settings = { ...options, maxAttempts: 1, where: { held: 0 } }
      const late = poll(name, slow.handler, { ...settings, concurrency: 2 }).once()
      await slow.until(2)
      await query(`UPDATE ${name} SET held = 1 WHERE n = 0`)
      later(TIMEOUT_SECONDS + 1)
      const other = poll(name, () => {}, settings)
      expect(await other.once()).toMatchObject({ claimed: 0, failed: 1 })
      expect(await other.counts()).toMatchObject({ claimed: 1, done: 0 })
      slow.letGo()
      await late
    })
  })

  /** A store of an application that has these entities. */
  const storeOf = async (...entities: (new () => object)[]) => {
    const source = userSource(context.url, entities)
    await source.initialize()
    context.afterwards(() => source.destroy())
    const store = await attachStore(source, {
      sweep: false,
      publish: false,
      clockOffsetMs: () => context.clock.offsetMs,
    })
    context.afterwards(() => store.close())
    return { source, store }
  }

  describe('polls: a row that is softly deleted between two attempts', () => {
    it('is not tried again until it is restored', async () => {
      const { source, store } = await storeOf(Draft)
      const time = context.engine === 'sqlite' ? 'datetime' : 'datetime(6)'
      await query(`CREATE TABLE polled_drafts (id integer NOT NULL PRIMARY KEY, deleted_at ${time} NULL)`)
      context.afterwards(() => query('DROP TABLE polled_drafts'))
      const drafts = source.getRepository(Draft)
      await drafts.save([{ id: 1 }, { id: 2 }])
      const attempts: string[] = []
      const fails = ({ id }: Draft, { attempt }: { attempt: number }) => {
        attempts.push(`${id}/${attempt}`)
        throw new Error('no')
      }
      const backoff = { minSeconds: BACKOFF_SECONDS, maxSeconds: BACKOFF_SECONDS }
      const drafting = store.poll(Draft, fails, { auto: false, backoff, onError: () => {}, onWarning: () => {} })
      await drafting.once()
      await drafts.softDelete(1)
      later(BACKOFF_SECONDS + 5)
      await drafting.once()
      await drafts.restore(1)
      later(TIMEOUT_SECONDS + 1)
      await drafting.once()
      expect(attempts).toEqual(['1/1', '2/1', '2/2', expect.any(String), expect.any(String)])
      expect(attempts.slice(3).sort()).toEqual(['1/2', '2/3'])
    })
  })

  describe('polls: classes that share a table', () => {
    it('have their own rows, and those of the classes that extend them', async () => {
      const { source, store } = await storeOf(Person, Student, Teacher, Head)
      await query(
        'CREATE TABLE polled_people (id integer NOT NULL PRIMARY KEY, status varchar(30) NOT NULL, kind varchar(20) NOT NULL)',
      )
      context.afterwards(() => query('DROP TABLE polled_people'))
      const people = [
        source.manager.create(Student, { id: 1, status: 'ready' }),
        source.manager.create(Teacher, { id: 2, status: 'ready' }),
        source.manager.create(Head, { id: 3, status: 'ready' }),
        source.manager.create(Student, { id: 4, status: 'ready' }),
      ]
      await source.manager.save(people)
      const seen = async (entity: typeof Person, options: PollOptions<Person>) => {
        const rows: string[] = []
        const handler = (row: Person) => rows.push(`${row.constructor.name} ${row.id}`)
        await store.poll(entity, handler, { ...options, auto: false, onWarning: () => {} }).once()
        return rows.sort()
      }
      // Under their own names by themselves: they remember nothing of each other.
      expect(await seen(Student, {})).toEqual(['Student 1', 'Student 4'])
      expect(await seen(Teacher, {})).toEqual(['Teacher 2', 'Teacher 3'])
      expect(await seen(Student, { status: 'status', name: 'students' })).toEqual(['Student 1', 'Student 4'])
      expect(await seen(Person, { status: 'status' })).toEqual(['Person 2', 'Person 3'])
    })
  })
}
