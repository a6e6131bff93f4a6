import { UnrecoverableError } from '../../../src/index'
import { type Context, sleep } from '../context'
import { type NumberedRow, pollTools } from './tools'

const OWN = 'claimed_by varchar(22), tries integer, next_at bigint'
const CLAIM = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at', error: 'last_error' }
const STATUS = "status varchar(30) DEFAULT 'ready'"

/** Results that the table does not take, and calls that would wait for themselves. */
export function describePollResults(context: Context): void {
  const { query, tableOf, poll } = pollTools(context)
  const isSqlite = context.engine === 'sqlite'
  const made = async (columns: string, check = '1 = 1') => {
    const whole = `id integer NOT NULL, ${columns}, PRIMARY KEY (id), CHECK (${check})`
    const name = await tableOf({ title: '', columns: whole, row: {}, options: {} }, 0)
    await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2), (3, 3)`)
    return name
  }
  const within = (work: Promise<unknown>) => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, 5000, 'never ended')
    })
    return Promise.race([work, late]).finally(() => clearTimeout(timer))
  }
  const fails = (message: unknown) => () => Promise.reject(Object.assign(new Error(), { message }))

  describe('polls: results that the table refuses', () => {
    it('do not stop the others: a CHECK', async () => {
      const name = await made(STATUS, "n <> 1 OR status <> 'done'")
      const [seen, told]: [number[], string[]] = [[], []]
      const onError = (error: unknown) => told.push(String(error))
      const poller = poll(name, ({ n }) => seen.push(Number(n)), { status: 'status', onError })
      expect(await within(poller.once())).toMatchObject({ done: 2, failed: 1 })
      expect(seen).toEqual([1, 2, 3])
      expect(told).toEqual([expect.stringMatching(/constraint/i)])
      expect(await query(`SELECT status FROM ${name} ORDER BY n`)).toEqual([
        { status: 'error' },
        { status: 'done' },
        { status: 'done' },
      ])
    })

    it('are warned of without a listener: each kind once, until a handler succeeds', async () => {
      const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
      context.afterwards(async () => warnings.mockRestore())
      const name = await made(STATUS)
      await query(`INSERT INTO ${name} (id, n) VALUES (4, 4), (5, 5), (6, 6)`)
      const outcomes = ['no', 'no', 'never', 'no', null, 'no']
      const handler = ({ n }: NumberedRow) => {
        const outcome = outcomes[Number(n) - 1]
        if (outcome) throw new Error(outcome)
      }
      const options = { status: 'status', maxAttempts: 1, onError: undefined } as const
      expect(await within(poll(name, handler, options).once())).toMatchObject({ done: 1, failed: 5 })
      const warned = warnings.mock.calls.map(([text]) => String(text).split(' (')[0])
      const what = `recentn could not poll ${name}`
      expect(warned).toEqual([`${what}: no`, `${what}: never`, `${what}: no`])
    })

    it('do not stop the others: a row that another refers to is not deleted', async () => {
      const name = await made(STATUS)
      const child = `${name}_c`
      await query(`CREATE TABLE ${child} (id integer, parent integer, FOREIGN KEY (parent) REFERENCES ${name} (id))`)
      context.afterwards(() => query(`DROP TABLE ${child}`))
      await query(`INSERT INTO ${child} VALUES (1, 1)`)
      const options = { status: 'status', onDone: 'delete' } as const
      expect(await within(poll(name, () => {}, options).once())).toMatchObject({ done: 2, failed: 1 })
      expect(await query(`SELECT n, status FROM ${name}`)).toEqual([{ n: expect.anything(), status: 'error' }])
    })

    it.each([
      ['in the row', `, ${OWN}, last_error varchar(100)`, { claim: CLAIM }],
      ['in the table of claims', '', {}],
    ])('do not stop the others, nor the next claim, where nothing is taken: claims %s', async (_, columns, options) => {
      const name = await made(`${STATUS}${columns}`, "n <> 1 OR status <> 'error'")
      const settings = { ...options, status: 'status', maxAttempts: 1 }
      const poller = poll(name, fails('no'), settings)
      expect(await within(poller.once())).toMatchObject({ failed: 2, lost: 1 })
      context.clock.offsetMs += 61_000
      expect(await within(poll(name, () => {}, settings).once())).toMatchObject({ failed: 1, claimed: 0 })
      await query(`INSERT INTO ${name} (id, n) VALUES (4, 4)`)
      context.clock.offsetMs += 61_000
      expect(await within(poll(name, () => {}, settings).once())).toMatchObject({ claimed: 1, done: 1, failed: 0 })
    })

    const longer = isSqlite ? 'varchar(3)' : 'tinytext'
    it.each([
      ['too long', longer],
      ...(isSqlite ? [] : [['of another character set', 'varchar(100) CHARACTER SET latin1']]),
    ])('do not stop the others: the text of an error that is %s', async (_, type) => {
      const name = await made(`${STATUS}, ${OWN}, last_error ${type}`)
      const handler = fails(`→ ${'é'.repeat(300)}`)
      const run = poll(name, handler, { status: 'status', claim: CLAIM, maxAttempts: 1 }).once()
      expect(await within(run)).toMatchObject({ failed: 3 })
      const [row] = await query(`SELECT last_error FROM ${name}`)
      expect(row.last_error).toMatch(/^[→?] /)
    })

    it('are known before: a column for errors that does not take NULL', async () => {
      const name = await made(`${STATUS}, ${OWN}, last_error varchar(9) NOT NULL DEFAULT ''`)
      await expect(poll(name, () => {}, { status: 'status', claim: CLAIM }).once()).rejects.toMatchObject({
        code: 'invalid_input',
        faults: [{ pointer: '/claim/error', detail: expect.stringContaining('NULL') }],
      })
    })

    if (isSqlite) return
    it('are known before: words that an ENUM does not have', async () => {
      const name = await made("status enum('new', 'paid', 'working', 'failed') DEFAULT 'paid'")
      const status = { column: 'status', ready: 'paid', claimed: 'working', error: 'Failed' }
      await expect(poll(name, () => {}, { status }).once()).rejects.toMatchObject({
        code: 'invalid_input',
        faults: [{ pointer: '/status/done', detail: expect.stringContaining('done') }],
      })
    })
  })

  describe('polls: handlers and callers', () => {
    it('an error whose message is no text is one like others', async () => {
      const name = await made(STATUS)
      const run = poll(name, fails(Object.create(null)), { status: 'status', maxAttempts: 1 }).once()
      expect(await within(run)).toMatchObject({ failed: 3 })
      const other = poll(name, fails({ code: 1 }), {
        name: `${name} again`,
        status: { column: 'status', ready: 'error', error: 'worse' },
      })
      expect(await within(other.once())).toMatchObject({ retried: 3 })
    })

    it.each([
      ['in the row', `, ${OWN}, last_error varchar(100)`, { claim: CLAIM }],
      ['in the table of claims', '', {}],
    ])('what a handler says is hopeless has failed at once: claims %s', async (_, columns, options) => {
      const name = await made(`${STATUS}${columns}`)
      const handler = ({ n }: NumberedRow) => {
        if (Number(n) === 1) throw new UnrecoverableError('no such address')
        if (Number(n) === 2) throw new Error('not now')
      }
      const told: unknown[] = []
      const onError = (error: unknown) => told.push(String(error))
      const settings = { ...options, status: 'status', maxAttempts: 5, onError }
      const poller = poll(name, handler, settings)
      expect(await within(poller.once())).toMatchObject({ claimed: 3, done: 1, retried: 1, failed: 1 })
      expect(told).toEqual(['UnrecoverableError: no such address', 'Error: not now'])
      expect((await query(`SELECT status FROM ${name} WHERE n = 1`))[0]).toEqual({ status: 'error' })
      const [kept] = columns
        ? await query(`SELECT last_error AS error FROM ${name} WHERE n = 1`)
        : await query(`SELECT error FROM recentn_poll_claims WHERE error LIKE '%no such address'`)
      expect(kept).toEqual({ error: 'UnrecoverableError: no such address' })
      context.clock.offsetMs += 700_000
      expect(await within(poller.once())).toMatchObject({ claimed: 1, retried: 1, failed: 0 })
    })

    it('a handler can not wait for the end of what runs it', async () => {
      const name = await made(STATUS)
      const codes: unknown[] = []
      const tell = (error: { code: string }) => codes.push(error.code)
      const handler = async () => {
        await poller.stop().catch(tell)
        await poller.once().catch(tell)
      }
      const poller = poll(name, handler, { status: 'status' })
      expect(await within(poller.once())).toMatchObject({ done: 3 })
      expect(new Set(codes)).toEqual(new Set(['misuse']))
      expect(codes).toHaveLength(6)
    })

    it('what a handler leaves running may stop the poller', async () => {
      const name = await made(STATUS)
      const left: Promise<unknown>[] = []
      const handler = (_: NumberedRow) => {
        if (left.length === 0) left.push(sleep(100).then(() => poller.stop()))
      }
      const poller = poll(name, handler, { status: 'status' })
      await poller.once()
      await expect(within(Promise.all(left))).resolves.toEqual([undefined])
    })

    it('a transaction of the store is not waited for by itself', async () => {
      const name = await made(STATUS)
      const poller = poll(name, () => {}, { status: 'status' })
      const inside = context.store.transaction(async () => poller.once())
      await expect(within(inside)).rejects.toMatchObject({ code: 'misuse' })
    })
  })
}
