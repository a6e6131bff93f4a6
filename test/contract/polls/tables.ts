import { Column, Entity, PrimaryColumn } from 'typeorm'
import { attachStore } from '../../../src/index'
import { engineVersion } from '../../support/engines'
import { lacks } from '../../support/servers/lacks'
import { type Context, userSource } from '../context'
import { pollTools } from './tools'

const STATUS = "status varchar(30) NOT NULL DEFAULT 'ready'"

@Entity({ name: 'polled_secrets' })
class Secret {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 30 })
  status!: string

  @Column({ type: 'varchar', length: 30, select: false })
  password!: string

  @Column({ type: 'integer' })
  hidden!: number
}

/** Each kind of table, column and index, which a poller either works with or refuses. */
export function describePollTables(context: Context): void {
  const { query, made, poll, faultsOf } = pollTools(context)
  const isSqlite = context.engine === 'sqlite'
  const q = isSqlite ? '"' : '`'

  describe('polls: one table, however it is spelled', () => {
    it('is one poll', async () => {
      const name = await made('id integer NOT NULL PRIMARY KEY, n integer')
      await query(`INSERT INTO ${name} VALUES (1, 1), (2, 2)`)
      const database = new URL(context.url.replace('sqlite:', 'file:')).pathname.slice(1)
      const spelled = isSqlite ? [name.toUpperCase(), `main.${name}`] : [`${database}.${name}`]
      expect(await poll(name, () => {}, {}).once()).toMatchObject({ done: 2 })
      for (const other of spelled) expect(await poll(other, () => {}, {}).once()).toMatchObject({ claimed: 0 })
      // Another name given by hand is for the same table, too.
      expect(await poll(name, () => {}, { name: `${name} again` }).once()).toMatchObject({ done: 2 })
      for (const other of spelled) {
        expect(await poll(other, () => {}, { name: `${name} again` }).once()).toMatchObject({ claimed: 0 })
      }
    })
  })

  describe('polls: views', () => {
    const viewOf = async () => {
      const name = await made(`n integer, ${STATUS}`)
      await query(`INSERT INTO ${name} (n) VALUES (1), (2)`)
      await query(`CREATE VIEW ${name}_v AS SELECT * FROM ${name}`)
      await query(`CREATE VIEW ${name}_w AS SELECT DISTINCT n, status FROM ${name}`)
      context.afterwards(() => query(`DROP VIEW ${name}_v`))
      context.afterwards(() => query(`DROP VIEW ${name}_w`))
      return name
    }
    it('whose rows can not be changed are refused', async () => {
      const name = await viewOf()
      for (const view of isSqlite ? [`${name}_v`, `${name}_w`] : [`${name}_w`]) {
        expect(await faultsOf(view, { status: 'status' })).toMatch(/^\/status: rows of .* can't be changed/m)
        expect(await faultsOf(view, { onDone: 'delete' })).toMatch(/^\/onDone: rows of .* can't be changed/m)
      }
    })
    if (isSqlite) return
    it('are polled, and no index is advised for them', async () => {
      const name = await viewOf()
      const warnings: string[] = []
      const onWarning = (warning: string) => warnings.push(warning)
      expect(await poll(`${name}_v`, () => {}, { status: 'status', onWarning }).once()).toMatchObject({ done: 2 })
      expect(warnings).toEqual([])
    })
  })

  describe('polls: the words of a status that are never written', () => {
    it('need not be there', async () => {
      const type = isSqlite ? 'varchar(7)' : "enum('ready', 'working')"
      const name = await made(`id integer NOT NULL PRIMARY KEY, n integer, status ${type} NOT NULL DEFAULT 'ready'`)
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2)`)
      const status = { column: 'status', claimed: 'working', done: 'ready' }
      const options = { status, onDone: 'delete', onFailed: 'delete', maxAttempts: 1 } as const
      const poller = poll(name, ({ n }) => (Number(n) === 1 ? null : Promise.reject(new Error('no'))), options)
      expect(await poller.once()).toMatchObject({ done: 1, failed: 1 })
      expect(await poller.counts()).toEqual({ ready: 0, claimed: 0, waiting: 0, failed: null, done: null })
      expect(await query(`SELECT n FROM ${name}`)).toEqual([])
    })
  })

  describe('polls: columns', () => {
    it('that the database computes may be asked for, and are not changed', async () => {
      const stored = isSqlite ? 'GENERATED ALWAYS AS (n * 2) STORED' : 'AS (n * 2) STORED'
      const virtual = isSqlite ? 'GENERATED ALWAYS AS (n + 1) VIRTUAL' : 'AS (n + 1) VIRTUAL'
      const name = await made(
        `id integer NOT NULL PRIMARY KEY, n integer, twice integer ${stored}, more integer ${virtual}`,
      )
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 5), (2, 4), (3, 3)`)
      const seen: object[] = []
      const options = { where: { more: [4, 5] }, sequence: 'twice', onDone: 'delete' } as const
      expect(await poll(name, (row) => void seen.push(row), options).once()).toMatchObject({ done: 2 })
      expect(seen.map((row) => Object.values(row).map(Number))).toEqual([
        [3, 3, 6, 4],
        [2, 4, 8, 5],
      ])
      expect(await faultsOf(name, { status: 'twice' })).toMatch(/^\/status: the column twice is computed/m)
    })

    it('of an entity are those that TypeORM would load', async () => {
      const source = userSource(context.url, [Secret])
      await source.initialize()
      context.afterwards(() => source.destroy())
      const store = await attachStore(source, { sweep: false, publish: false })
      context.afterwards(() => store.close())
      const hidden = context.engine === 'mysql' ? 'DEFAULT 7 INVISIBLE' : isSqlite ? 'DEFAULT 7' : 'INVISIBLE DEFAULT 7'
      await query(
        `CREATE TABLE polled_secrets (id integer NOT NULL PRIMARY KEY, status varchar(30) NOT NULL, password varchar(30), hidden integer ${hidden})`,
      )
      context.afterwards(() => query('DROP TABLE polled_secrets'))
      await query("INSERT INTO polled_secrets (id, status, password) VALUES (1, 'ready', 'secret')")
      const [found] = await source.getRepository(Secret).find()
      const seen: Partial<Secret>[] = []
      await store.poll(Secret, (row) => void seen.push(row), { status: 'status', auto: false, onWarning() {} }).once()
      expect(seen.map(({ status: _, ...row }) => row)).toEqual([{ id: 1, hidden: 7 }])
      expect(Object.keys(seen[0] as Secret)).toEqual(Object.keys(found as Secret))
    })

    if (isSqlite) {
      it('of texts with a zero in them are distinguished', async () => {
        const name = await made('id text NOT NULL PRIMARY KEY, n integer')
        await query(`INSERT INTO ${name} VALUES ('a' || char(0) || 'b', 1), ('a' || char(0) || 'c', 2), ('a', 3)`)
        const poller = poll(name, ({ n }) => (Number(n) === 4 ? null : null), {})
        expect(await poller.once()).toMatchObject({ done: 3 })
        expect(await poller.once()).toMatchObject({ claimed: 0 })
        expect(await poll(name, () => {}, { name: `${name} 2`, onDone: 'delete' }).once()).toMatchObject({ done: 3 })
        expect(await query(`SELECT n FROM ${name}`)).toEqual([])
      })
      return
    }

    it('of bits are a key', async () => {
      const name = await made('a bit(1) NOT NULL, b bit(64) NOT NULL, n integer, PRIMARY KEY (b, a)')
      await query(
        `INSERT INTO ${name} VALUES (b'1', 5, 1), (b'0', 5, 2), (b'1', 18446744073709551615, 3), (b'0', 0, 4)`,
      )
      for (const options of [{}, { name: `${name} 2`, onDone: 'delete' } as const]) {
        const poller = poll(name, () => {}, options)
        expect(await poller.once()).toMatchObject({ done: 4 })
        expect(await poller.once()).toMatchObject({ claimed: 0 })
      }
    })

    const vector = context.engine === 'mysql' ? "STRING_TO_VECTOR('[1,2]')" : "VEC_FromText('[1,2]')"
    const vectors = lacks(engineVersion(context.engine), 'vectors') ? [] : [['vectors', 'vector(2)', vector]]
    it.each([
      ...vectors,
      ['points', 'point', "ST_GeomFromText('POINT(1 2)')"],
      ['shapes', 'geometry', "ST_GeomFromText('POLYGON((0 0, 1 0, 1 1, 0 0))')"],
    ])('of %s are part of what a row without a key is', async (_, type, value) => {
      const name = await made(`a ${type}, n integer`)
      await query(`INSERT INTO ${name} VALUES (${value}, 1), (${value}, 1), (NULL, 1)`)
      expect(await poll(name, () => {}, { onDone: 'delete' }).once()).toMatchObject({ done: 3 })
    })
  })

  describe('polls: an index that is advised', () => {
    it('is not longer than an index may be', async () => {
      const name = await made(
        `id varchar(${isSqlite ? 30 : 600}) NOT NULL PRIMARY KEY, n integer, status varchar(255) DEFAULT 'ready'`,
      )
      const warnings: string[] = []
      const once = () => poll(name, () => {}, { status: 'status', onWarning: (one) => warnings.push(one) }).once()
      await once()
      await query((warnings[0] as string).slice((warnings[0] as string).indexOf('CREATE INDEX')))
      await once()
      expect(warnings).toEqual([expect.stringContaining(`(${q}status${q}${isSqlite ? `, ${q}id${q}` : ''})`)])
    })
  })

  if (!isSqlite) return
  describe('polls: keys of SQLite', () => {
    it('are none where the index takes more for different than the column does', async () => {
      for (const [columns, unique] of [
        ['email text COLLATE NOCASE NOT NULL, n integer', 'email COLLATE BINARY'],
        ['email text COLLATE NOCASE NOT NULL, n integer, PRIMARY KEY (email COLLATE BINARY)', 'n'],
      ] as const) {
        const name = await made(columns)
        await query(`CREATE UNIQUE INDEX ${name}_u ON ${name} (${unique})`)
        await query(`INSERT INTO ${name} VALUES ('a', 1), ('A', 2)`)
        const seen: number[] = []
        const options = { onDone: 'delete', batch: { max: 1 } } as const
        await poll(name, ({ n }) => void seen.push(Number(n)), options).once()
        expect(seen.sort()).toEqual([1, 2])
        expect(await query(`SELECT n FROM ${name}`)).toEqual([])
        expect(await faultsOf(name, { key: 'email' })).toMatch(/no primary key and no unique index/)
      }
    })

    it('are those that an index takes for less different than the column does, and it is not walked', async () => {
      const name = await made(`email text NOT NULL, n integer, ${STATUS}`)
      await query(`CREATE UNIQUE INDEX ${name}_u ON ${name} (email COLLATE NOCASE)`)
      await query(`INSERT INTO ${name} (email, n) VALUES ('b', 1), ('C', 2)`)
      expect(await poll(name, () => {}, { key: 'email', status: 'status' }).once()).toMatchObject({ done: 2 })
      await query(`CREATE INDEX ${name}_s ON ${name} (status COLLATE NOCASE, email)`)
      const warnings: string[] = []
      const onWarning = (warning: string) => warnings.push(warning)
      await poll(name, () => {}, { key: 'email', status: 'status', onWarning }).once()
      expect(warnings).toHaveLength(1)
    })

    it('are needed beside the status in a table WITHOUT ROWID', async () => {
      const name = await made(`id integer NOT NULL, n integer, ${STATUS}, PRIMARY KEY (status, id)`, ' WITHOUT ROWID')
      await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2)`)
      expect(await faultsOf(name, { status: 'status' })).toMatch(/^\/key: .* is WITHOUT ROWID/)
      expect(await poll(name, () => {}, { status: 'status', key: 'id' }).once()).toMatchObject({ done: 2 })
    })
  })
}
