import { Column, DeleteDateColumn, Entity, PrimaryColumn, type Repository } from 'typeorm'
import { attachStore, type PollOptions } from '../../../src/index'
import { moment } from '../../support/timing'
import { type Context, eventually, sleep, userSource } from '../context'
import { pollTools } from './tools'

@Entity({ name: 'polled_bills' })
class Bill {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'integer' })
  total!: number

  // The default of the class must not be written over a claim.
  @Column({ type: 'varchar', length: 30 })
  status = 'ready'

  @Column({ type: 'varchar', length: 22, nullable: true })
  claimedBy: string | null = null

  @Column({ type: 'integer', nullable: true })
  tries: number | null = null

  @Column({ type: 'bigint', nullable: true })
  nextAt: string | null = null

  @DeleteDateColumn({ type: 'datetime' })
  deletedAt!: Date | null
}

const CLAIM = { claim: 'claimedBy', attempts: 'tries', nextTime: 'nextAt' }
const WAYS: [string, PollOptions<Bill>][] = [
  ['the batch key in the status', { status: 'status' }],
  ['a word in the status', { status: { column: 'status', claimed: 'working' } }],
  ['columns for claims', { status: 'status', claim: CLAIM }],
]

/** The entity that a handler gets: what saving it does, and how fresh it is. */
export function describePollHanded(context: Context): void {
  const { query, tableOf, poll } = pollTools(context)

  const made = async (rows: number) => {
    const source = userSource(context.url, [Bill])
    await source.initialize()
    context.afterwards(() => source.destroy())
    const clockOffsetMs = () => context.clock.offsetMs
    const store = await attachStore(source, { sweep: false, publish: false, clockOffsetMs })
    context.afterwards(() => store.close())
    const time = context.engine === 'sqlite' ? 'datetime' : 'datetime(6)'
    const columns = `id integer NOT NULL PRIMARY KEY, total integer, status varchar(30), claimedBy varchar(22), tries integer, nextAt bigint, deletedAt ${time}`
    await query(`CREATE TABLE polled_bills (${columns})`)
    context.afterwards(() => query('DROP TABLE polled_bills'))
    const bills = source.getRepository(Bill)
    for (let id = 1; id <= rows; id++)
      await query(`INSERT INTO polled_bills (id, total, status) VALUES (${id}, 0, 'ready')`)
    const common = { auto: false, onWarning: () => {}, onError: () => {} }
    return { store, bills, common }
  }

  const standing = async (bills: Repository<Bill>) => {
    const all = await bills.find({ withDeleted: true, order: { id: 'ASC' } })
    return all.map(({ id, status, total }) => `${id} ${status} ${total}`)
  }

  const gate = () => {
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    return { opened, open }
  }

  describe.each(WAYS)('polls: an entity that its handler saves: %s', (title, options) => {
    const name = `bills, ${title}`

    it('keeps its claim, and is done', async () => {
      const { store, bills, common } = await made(2)
      const work = async (bill: Bill) => {
        expect(bill).toMatchObject({ status: undefined, total: 0 })
        bill.total = 7
        await bills.save(bill)
        expect(await store.poll(Bill, () => {}, { ...common, ...options, name }).once()).toMatchObject({ claimed: 0 })
      }
      const poller = store.poll(Bill, work, { ...common, ...options, name, batch: { min: 2 } })
      expect(await poller.once()).toEqual({ claimed: 2, done: 2, retried: 0, failed: 0, lost: 0 })
      expect(await standing(bills)).toEqual(['1 done 7', '2 done 7'])
    })

    it.each(['runs', 'is done'])('late, leaves its successor alone, which %s', async (how) => {
      const { store, bills, common } = await made(1)
      const gates = [gate(), gate()]
      const begun: number[] = []
      const pollerOf = (at: number) =>
        store.poll(
          Bill,
          async (bill) => {
            begun.push(at)
            await gates[at]?.opened
            bill.total += 1 + at
            await bills.save(bill)
          },
          { ...common, ...options, name },
        )
      const late = pollerOf(0).once()
      await eventually(5000, 'the first has begun', async () => begun.length === 1)
      context.clock.offsetMs += 61_000
      const second = pollerOf(1).once()
      await eventually(5000, 'the second has begun', async () => begun.length === 2)
      const secondEnds = () => expect(second).resolves.toMatchObject({ claimed: 1, done: 1, lost: 0 })
      if (how === 'is done') {
        gates[1]?.open()
        await secondEnds()
      }
      gates[0]?.open()
      expect(await late).toMatchObject({ claimed: 1, done: 0, lost: 1 })
      gates[1]?.open()
      await secondEnds()
      expect(await standing(bills)).toEqual([expect.stringMatching(/^1 done /)])
      expect(await pollerOf(1).once()).toMatchObject({ claimed: 0 })
    })
  })

  describe('polls: what a handler is given', () => {
    it('is a row without what the claim wrote', async () => {
      const columns =
        "id integer NOT NULL PRIMARY KEY, status varchar(30) DEFAULT 'ready', claimed_by varchar(22), tries integer, next_at bigint"
      const table = await tableOf({ title: '', columns, row: { id: 'N' }, options: {} }, 1)
      const claim = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
      const rows: object[] = []
      expect(await poll(table, (row) => rows.push(row), { status: 'status', claim }).once()).toMatchObject({ done: 1 })
      expect(rows.map((row) => Object.keys(row).sort())).toEqual([['id', 'n']])
    })

    it('is read again where it waited here, and left alone where it is not to be handled any more', async () => {
      const { store, bills, common } = await made(5)
      const seen: [number, number][] = []
      const changed = moment()
      const poller = store.poll(
        Bill,
        async ({ id, total }) => {
          seen.push([id, total])
          if (id === 1) await Promise.all([changed.reached, sleep(1200)])
        },
        { ...common, status: 'status', where: { total: [0, 99] }, batch: { min: 5 } },
      )
      const run = poller.once()
      await eventually(5000, 'the first has begun', async () => seen.length === 1)
      await bills.update(2, { total: 99 })
      await bills.softDelete(3)
      await bills.update(4, { total: -1 })
      changed.come()
      expect(await run).toEqual({ claimed: 5, done: 3, retried: 0, failed: 0, lost: 0 })
      expect(seen).toEqual([
        [1, 0],
        [2, 99],
        [5, 0],
      ])
      expect(await standing(bills)).toEqual(['1 done 0', '2 done 99', '3 ready 0', '4 ready -1', '5 done 0'])
    })
  })
}
