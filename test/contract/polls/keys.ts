import type { PollOptions } from '../../../src/index'
import { type Context, refusal } from '../context'
import { type NumberedRow, pollTools } from './tools'

const STATUS = "status varchar(30) DEFAULT 'ready'"

/** Tables that a poller can't use as they are, or whose rows it has to know by what does not change. */
export function describePollKeys(context: Context): void {
  const tools = pollTools(context)
  const { query, poll, numbersWhere, holding } = tools
  const isSqlite = context.engine === 'sqlite'
  const made = (columns: string) => tools.made(`n integer, ${columns}`)
  const faultsOf = async (columns: string, options: PollOptions<NumberedRow>) => {
    const { code, faults, message } = await refusal(poll(await made(columns), () => {}, options).once())
    expect(code).toBe('invalid_input')
    return faults.length > 0 ? faults.map(({ pointer, detail }) => `${pointer}: ${detail}`).join('\n') : message
  }
  /** Whatever fails is tried again at once. */
  const again = { backoff: { minSeconds: 0, maxSeconds: 0 }, maxAttempts: 3 }

  describe('polls: what tells rows apart', () => {
    it('is not a key that may be null, or that repeats', async () => {
      expect(await faultsOf('a integer UNIQUE', { key: 'a' })).toMatch(/^\/key: the column a must not take NULL/)
      expect(await faultsOf('a integer NOT NULL, b integer NOT NULL, UNIQUE (a, b)', { key: 'a' })).toMatch(
        /^\/key: no primary key and no unique index of \w+ lies within a$/,
      )
    })

    it('is a key within which a unique index lies, whatever its order', async () => {
      const name = await made('a integer NOT NULL, b integer NOT NULL, c integer NOT NULL, UNIQUE (b, a)')
      await query(`INSERT INTO ${name} (a, b, c, n) VALUES (1, 1, 1, 1), (1, 2, 1, 2), (2, 1, 1, 3)`)
      const poller = poll(name, () => {}, { key: ['a', 'b', 'c'] })
      expect(await poller.once()).toMatchObject({ done: 3 })
      expect(await poller.once()).toMatchObject({ claimed: 0 })
    })

    it('a sequence that may be null is no place for a cursor, and an order elsewhere', async () => {
      const columns = `id integer NOT NULL PRIMARY KEY, at integer, ${STATUS}`
      expect(await faultsOf(columns, { sequence: 'at' })).toMatch(/^\/sequence: the column at must not take NULL/)
      const name = await made(columns)
      await query(`INSERT INTO ${name} (id, at, n) VALUES (1, 2, 1), (2, NULL, 2), (3, 1, 3)`)
      const seen: number[] = []
      const poller = poll(name, ({ n }) => seen.push(Number(n)), { status: 'status', sequence: 'at' })
      expect(await poller.once()).toMatchObject({ done: 3 })
      expect(seen).toEqual([2, 3, 1])
    })

    it('a primary key of SQLite cannot be null', async () => {
      const name = await made('id integer PRIMARY KEY')
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2)`)
      expect(await poll(name, () => {}, { sequence: 'id', key: 'id' }).once()).toMatchObject({ done: 2 })
    })
  })

  describe('polls: the words of a status', () => {
    it.each([
      ['of which the column takes two for the same', isSqlite ? 'varchar(30) COLLATE NOCASE' : 'varchar(30)', 'New'],
      ...(isSqlite ? [] : [['that differ in spaces at the end, of a CHAR', 'char(30)', 'NEW ']]),
    ])('%s are refused', async (_, type, done) => {
      const columns = `id integer NOT NULL PRIMARY KEY, status ${type}`
      expect(await faultsOf(columns, { status: { column: 'status', ready: 'NEW', done } })).toMatch(
        /^\/status: must have values that all differ/,
      )
    })

    it('that differ in case are two in a column that tells them apart', async () => {
      const type = isSqlite ? 'varchar(30)' : 'varchar(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
      const name = await made(`id integer NOT NULL PRIMARY KEY, status ${type} DEFAULT 'NEW'`)
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1)`)
      const poller = poll(name, () => {}, { status: { column: 'status', ready: 'NEW', done: 'new' } })
      expect(await poller.once()).toMatchObject({ done: 1 })
      expect(await poller.once()).toMatchObject({ claimed: 0 })
    })

    it('are texts in a column of texts: a number is not all of them', async () => {
      const name = await made('id integer NOT NULL PRIMARY KEY, status varchar(30)')
      await query(`INSERT INTO ${name} (id, status, n) VALUES (1, '0', 1), (2, 'held', 2), (3, '00', 3), (4, '0', 4)`)
      const poller = poll(name, () => {}, { status: { column: 'status', ready: 0, claimed: 1, done: 2, error: 3 } })
      expect(await poller.counts()).toMatchObject({ ready: 2 })
      expect(await poller.once()).toMatchObject({ claimed: 2, done: 2 })
      expect(await numbersWhere(name, "status = '2'")).toEqual([1, 4])
      expect(await poller.counts()).toMatchObject({ ready: 0, done: 2 })
    })

    it('may be null for rows that wait, where the column takes it', async () => {
      const status = { column: 'status', ready: null }
      const columns = 'id integer NOT NULL PRIMARY KEY, status varchar(30) NOT NULL'
      expect(await faultsOf(columns, { status })).toMatch(/^\/status\/ready: the column status takes no NULL/)
      const name = await made('id integer NOT NULL PRIMARY KEY, status varchar(30)')
      await query(`INSERT INTO ${name} (id, status, n) VALUES (1, NULL, 1), (2, 'held', 2), (3, NULL, 3)`)
      const attempts: string[] = []
      const fails = ({ n }: NumberedRow, { attempt }: { attempt: number }) => {
        attempts.push(`${n}/${attempt}`)
        if (Number(n) === 3) throw new Error('no')
      }
      const poller = poll(name, fails, { status, maxAttempts: 2, backoff: { minSeconds: 60, maxSeconds: 60 } })
      expect(await poller.counts()).toMatchObject({ ready: 2 })
      expect(await poller.once()).toMatchObject({ done: 1, retried: 1 })
      expect(await poller.counts()).toEqual({ ready: 0, claimed: 0, waiting: 1, failed: 0, done: 1 })
      expect(await numbersWhere(name, 'status IS NULL')).toEqual([3])
      context.clock.offsetMs += 120_000
      expect(await poller.once()).toMatchObject({ failed: 1 })
      expect(attempts).toEqual(['1/1', '3/1', '3/2'])
      await query(`UPDATE ${name} SET status = NULL WHERE n = 3`)
      await poller.once()
      expect(attempts.slice(3)).toEqual(['3/1'])
    })

    it('may be empty', async () => {
      const name = await made("id integer NOT NULL PRIMARY KEY, status varchar(30) NOT NULL DEFAULT ''")
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1)`)
      const poller = poll(name, () => {}, { status: { column: 'status', ready: '' } })
      expect(await poller.once()).toMatchObject({ done: 1 })
      expect(await poller.once()).toMatchObject({ claimed: 0 })
    })

    it('may be numbers written as texts in a column of numbers, and nothing else', async () => {
      const columns = 'id integer NOT NULL PRIMARY KEY, status integer NOT NULL DEFAULT 0'
      const status = { column: 'status', ready: '0', claimed: '1', done: '2', error: 9 }
      const name = await made(columns)
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1)`)
      expect(await poll(name, () => {}, { status }).once()).toMatchObject({ done: 1 })
      if (isSqlite) return // it holds any text in any column
      expect(await faultsOf(columns, { status: { ...status, done: 'done' } })).toMatch(
        /^\/status\/done: done is no number, which the column status, int, has/,
      )
    })
  })

  describe('polls: rows without a key', () => {
    const OWN = 'claimed_by varchar(22), tries integer, next_at bigint'
    const CLAIM = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
    it.each([
      ['in its status', STATUS, { status: 'status' }, "status = 'done'"],
      ['in the row', OWN, { claim: CLAIM }, "claimed_by = 'done'"],
    ])('are found by their batch key when they are changed in between: %s', async (_, columns, options, done) => {
      const name = await made(`word varchar(20), ${columns}`)
      await query(`INSERT INTO ${name} (word, n) VALUES ('a', 1), ('b', 2), ('b', 2)`)
      const attempts: string[] = []
      const handler = async ({ n }: NumberedRow, { attempt }: { attempt: number }) => {
        attempts.push(`${n}/${attempt}`)
        await query(`UPDATE ${name} SET word = 'changed ${attempts.length}' WHERE n = ${n}`)
        if (Number(n) === 1 && attempt < 3) throw new Error('no')
      }
      const poller = poll(name, handler, { ...options, ...again })
      expect(await poller.once()).toMatchObject({ claimed: 5, done: 3, retried: 2, lost: 0 })
      expect(attempts.sort()).toEqual(['1/1', '1/2', '1/3', '2/1', '2/1'])
      expect(await numbersWhere(name, done)).toEqual([1, 2, 2])
    })

    it('and whose claim ran out after they were changed are handled again', async () => {
      const name = await made(`word varchar(20), ${STATUS}`)
      await query(`INSERT INTO ${name} (word, n) VALUES ('a', 1)`)
      const [slow, next] = [holding(), holding()]
      const late = poll(name, slow.handler, { status: 'status' }).once()
      await slow.until(1)
      await query(`UPDATE ${name} SET word = 'changed'`)
      context.clock.offsetMs += 61_000
      next.letGo()
      expect(await poll(name, next.handler, { status: 'status' }).once()).toMatchObject({ claimed: 1, done: 1 })
      expect(next.attempts).toEqual([2])
      slow.letGo()
      expect(await late).toMatchObject({ lost: 1 })
    })
  })

  describe('polls: rows that can not be found once they are claimed', () => {
    it('are reported, and not claimed', async () => {
      const name = await made(`id integer NOT NULL PRIMARY KEY, ${STATUS}`)
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2)`)
      const moves = isSqlite
        ? `AFTER UPDATE OF status ON ${name} BEGIN UPDATE ${name} SET id = id + 100 WHERE id = NEW.id; END`
        : `BEFORE UPDATE ON ${name} FOR EACH ROW SET NEW.id = NEW.id + 100`
      await query(`CREATE TRIGGER ${name}_moves ${moves}`)
      const run = poll(name, () => {}, { status: 'status' }).once()
      await expect(run).rejects.toMatchObject({ code: 'database_refused', message: expect.stringMatching(/trigger/) })
      expect(await numbersWhere(name, "status = 'ready' AND id < 100")).toEqual([1, 2])
    })
  })

  if (isSqlite) return
  describe('polls: tables', () => {
    it('without transactions are refused', async () => {
      const name = await made(`id integer NOT NULL PRIMARY KEY, ${STATUS}`)
      await query(`ALTER TABLE ${name} ENGINE = MyISAM`)
      expect((await refusal(poll(name, () => {}, { status: 'status' }).once())).message).toMatch(
        /without transactions.*ALTER TABLE `\w+` ENGINE = InnoDB/,
      )
    })

    it.each([
      ['a batch key', "status varchar(30) DEFAULT 'ready'", 'status'],
      ['a word', "status varchar(30) DEFAULT 'ready'", { column: 'status', claimed: 'working' }],
    ])('without a key, with columns that change with each UPDATE: %s', async (_, status, option) => {
      const stamp = 'changed_at timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)'
      const open = "is_open integer AS (CASE WHEN status = 'ready' THEN 1 ELSE 0 END) STORED"
      const name = await made(`${status}, ${stamp}, ${open}`)
      await query(`INSERT INTO ${name} (n) VALUES (1), (2), (3)`)
      const attempts: string[] = []
      const handler = ({ n }: NumberedRow, { attempt }: { attempt: number }) => {
        attempts.push(`${n}/${attempt}`)
        if (Number(n) === 2) throw new Error('no')
      }
      const poller = poll(name, handler, { status: option, ...again })
      expect(await poller.once()).toMatchObject({ done: 2, retried: 2, failed: 1, lost: 0 })
      expect(attempts.sort()).toEqual(['1/1', '2/1', '2/2', '2/3', '3/1'])
      expect(await numbersWhere(name, "status = 'done'")).toEqual([1, 3])
    })
  })
}
