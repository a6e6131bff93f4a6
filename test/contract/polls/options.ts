import { Column, DeleteDateColumn, Entity, PrimaryColumn } from 'typeorm'
import { attachStore } from '../../../src/index'
import { type Context, eventually, refusal, userSource } from '../context'
import { pollTools } from './tools'

const asTags = { to: (tags: string[]) => tags.join('|'), from: (text: string) => text.split('|') }

@Entity({ name: 'polled_orders' })
class PolledOrder {
  @PrimaryColumn({ name: 'order_id', type: 'integer' })
  id!: number

  @Column({ name: 'state_of_order', type: 'varchar', length: 40, default: 'ready' })
  state!: string

  @Column({ type: 'varchar', length: 100, transformer: asTags })
  tags!: string[]

  @Column({ name: 'is_paid', type: 'boolean' })
  isPaid!: boolean

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null

  describe(): string {
    return `order ${this.id}: ${this.tags.join(' and ')}`
  }
}

export function describePollOptions(context: Context): void {
  const { query, poll, holding } = pollTools(context)
  const make = async (columns: string, values: readonly string[] = []): Promise<string> => {
    const name = context.unique('polled').replace(/\W/g, '_')
    await query(`CREATE TABLE ${name} (${columns})`)
    context.afterwards(() => query(`DROP TABLE ${name}`))
    if (values.length > 0) await query(`INSERT INTO ${name} VALUES ${values.join(', ')}`)
    return name
  }
  const IDEAL = "id integer NOT NULL PRIMARY KEY, status varchar(30) DEFAULT 'ready', n integer"

  describe('polls: options', () => {
    it('that are not valid are refused at once, each with its fault', () => {
      const options = {
        status: { ready: 1 },
        claim: { claim: 'a', attempts: '', nextTime: 'c', more: 1 },
        batch: { min: 20, max: 10 },
        concurrency: 0,
        onDone: 'forget',
        colour: 'red',
        where: '',
      }
      const call = async () => context.store.poll('t', 'no function' as never, options as never)
      return refusal(call()).then(({ code, faults }) => {
        expect(code).toBe('invalid_input')
        const at = faults.map(({ pointer, parameter }) => pointer ?? parameter)
        const where = [
          '/claim/attempts',
          '/claim/more',
          '/status/column',
          '/batch/max',
          '/concurrency',
          '/onDone',
          '/colour',
        ]
        expect(at.sort()).toEqual([...where, '/where', 'handler'].sort())
      })
    })

    it('that the table does not fit are faults that say what would fix them', async () => {
      const faultsOf = async (columns: string, options: object) => {
        const poller = poll(await make(columns), () => {}, options)
        const { code, faults } = await refusal(poller.once())
        expect(code).toBe('invalid_input')
        return faults.map(({ pointer, detail }) => `${pointer}: ${detail}`).join('\n')
      }
      expect(await faultsOf(IDEAL, { status: 'state', key: 'no' })).toMatch(/no column state(.|\n)*no column no/)
      expect(await faultsOf('id integer, word varchar(10)', {})).toMatch(
        /\/onDone: must be delete: the table has no key/,
      )
      expect(await faultsOf(IDEAL, { onDone: 'mark' })).toMatch(/needs a status column/)
      expect(await faultsOf(IDEAL, { status: 'status', onDone: 'remember' })).toMatch(/use mark/)
      expect(await faultsOf('id double NOT NULL PRIMARY KEY', {})).toMatch(/is not exact/)
      expect(await faultsOf(IDEAL, { claim: { claim: 'status', attempts: 'n', nextTime: 'x' } })).toMatch(/no column x/)
      expect((await refusal(poll('no_such_table', () => {}).once())).message).toMatch(/no table no_such_table/)
      if (context.engine === 'sqlite') return // it holds texts of any length
      const short = 'id integer NOT NULL PRIMARY KEY, status varchar(10)'
      const said = await faultsOf(short, { status: 'status' })
      expect(said).toMatch(/status, varchar\(10\), can't hold a batch key: make it VARCHAR\(22\) or longer, or/)
      expect(
        await faultsOf("id integer NOT NULL PRIMARY KEY, status enum('ready', 'done')", { status: 'status' }),
      ).toMatch(/can't hold a batch key/)
      expect(await faultsOf(short, { status: { column: 'status', claimed: 'x'.repeat(11) } })).toMatch(
        /more than the 10/,
      )
    })

    it('of a poller that polls by itself are reported to onError, once', async () => {
      const told: unknown[] = []
      poll('no_such_table', () => {}, { auto: true, intervalSeconds: 0.01, onError: (error) => told.push(error) })
      await eventually(5000, 'told', async () => told.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(told).toEqual([expect.objectContaining({ code: 'invalid_input' })])
    })

    it.each([
      ['text', "n > 2 AND n < 5 OR n = 9 AND 'a?b' = 'a?b'"],
      ['parameters', { sql: 'n > ? AND n < ? OR n = ?', parameters: [2, 5, 9] }],
      ['columns', { n: [3, 4, 9], id: [3, 4, 5, 9], status: 'ready' }],
    ])('where, as %s', async (_, where) => {
      const rows = Array.from({ length: 12 }, (_, n) => `(${n}, 'ready', ${n})`)
      const name = await make(IDEAL, rows)
      for (const options of [{ status: 'status' }, { onDone: 'delete' }] as const) {
        const { handler, begun, letGo } = holding()
        letGo()
        const poller = poll(name, handler, { name: `${name} ${Object.keys(options)}`, ...options, where })
        expect(await poller.counts()).toMatchObject({ ready: 3 })
        await poller.once()
        expect(begun.sort((a, b) => a - b)).toEqual([3, 4, 9])
        await query(`UPDATE ${name} SET status = 'ready'`)
      }
      expect(await query(`SELECT n FROM ${name}`)).toHaveLength(9)
    })

    it.each<[string, unknown]>([
      ['a list', []],
      ['a Date', new Date()],
      ['a list in a list', { status: [["'a') OR (1=1"]] }],
      ['an object', { status: { toString: () => "'a' OR 1=1" } }],
      ['NaN', { n: Number.NaN }],
      ['a parameter that is none', { sql: 'n = ?', parameters: [['1) OR (1 = 1']] }],
    ])('where, as %s, is refused before it reaches a statement', async (_, where) => {
      const name = await make(IDEAL, ["(1, 'ready', 1)"])
      const error = await refusal(poll(name, () => {}, { status: 'status', where } as never).once())
      expect(error.code).toBe('invalid_input')
      expect(error.faults.every(({ pointer }) => pointer?.startsWith('/where'))).toBe(true)
      expect(await query(`SELECT n FROM ${name} WHERE status = 'ready'`)).toHaveLength(1)
    })

    it('a CHAR, a mixed case and a name that needs quoting', async () => {
      const q = context.engine === 'sqlite' ? '"' : '`'
      const columns = `${q}order${q} varchar(20) NOT NULL PRIMARY KEY, ${q}the Status${q} char(22) DEFAULT 'ready', n integer`
      const name = await make(columns, ["('a?''b', 'ready', 1)", "('ä', 'ready', 2)"])
      const poller = poll(name, () => {}, { status: 'the Status' })
      expect(await poller.once()).toMatchObject({ done: 2, lost: 0 })
      expect(await poller.counts()).toMatchObject({ done: 2 })
    })
  })

  describe('polls: an entity', () => {
    it('of the user’s own DataSource: properties, transformers, methods, deleted rows', async () => {
      const source = userSource(context.url, [PolledOrder])
      await source.initialize()
      const store = await attachStore(source, { sweep: false, publish: false })
      context.afterwards(() => source.destroy())
      context.afterwards(() => store.close())
      const time = context.engine === 'sqlite' ? 'datetime' : 'datetime(6)'
      await query(
        `CREATE TABLE polled_orders (order_id integer NOT NULL PRIMARY KEY, state_of_order varchar(40) NOT NULL, tags varchar(100) NOT NULL, is_paid smallint NOT NULL, deleted_at ${time})`,
      )
      context.afterwards(() => query('DROP TABLE polled_orders'))
      const orders = source.getRepository(PolledOrder)
      const order = (id: number, isPaid: boolean) => ({ id, state: 'ready', tags: ['a', `b${id}`], isPaid })
      await orders.save([order(1, true), order(2, false), order(3, true), order(4, true)])
      await orders.softDelete(4)
      const seen: string[] = []
      const poller = store.poll(
        PolledOrder,
        async (row) => {
          expect(row).toBeInstanceOf(PolledOrder)
          expect(row.isPaid).toBe(true)
          seen.push(row.describe())
          await orders.update(row.id, { tags: ['seen'] })
        },
        { status: 'state', where: { isPaid: true }, auto: false, onWarning: () => {} },
      )
      expect(await poller.once()).toMatchObject({ claimed: 2, done: 2 })
      expect(seen).toEqual(['order 1: a and b1', 'order 3: a and b3'])
      const left = await orders.find({ withDeleted: true, order: { id: 'ASC' } })
      expect(left.map(({ state }) => state)).toEqual(['done', 'ready', 'done', 'ready'])
      expect((await refusal(store.poll(class Foreign {}, () => {}, { auto: false }).once())).message).toMatch(/Foreign/)
    })
  })
}
