/** Each library as an app has it, with a transaction in which it writes its own note. */

import { EntitySchema, MikroORM } from '@mikro-orm/core'
import { MariaDbDriver } from '@mikro-orm/mariadb'
import { MySqlDriver } from '@mikro-orm/mysql'
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaMariaDb } from '@prisma/adapter-mariadb'
import BetterSqlite3 from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle as drizzleOnFile } from 'drizzle-orm/better-sqlite3'
import { drizzle } from 'drizzle-orm/mysql2'
import knexOf, { type Knex } from 'knex'
import { CamelCasePlugin, Kysely, MysqlDialect, SqliteDialect } from 'kysely'
import { createPool } from 'mysql2'
import { createPool as createPromisePool } from 'mysql2/promise'
import {
  fromBetterSqlite3,
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromMikroOrm,
  fromMysql2,
  fromPrisma,
  fromSequelize,
  type QueryTransaction,
} from 'recentn/adapters'
import { Sequelize } from 'sequelize'
import type { PrismaClient as MysqlPrisma } from '../node_modules/.recentn/mysql'

export type Isolation = 'read committed' | 'serializable'
/** The work, which is given the transaction and a function that writes a note by the library itself. */
export type Work<T> = (given: QueryTransaction, note: (note: string) => Promise<unknown>) => Promise<T>

export interface Library {
  transaction<T>(work: Work<T>, isolation?: Isolation): Promise<T>
  /** The library without a transaction. */
  outside: QueryTransaction
  close(): Promise<unknown>
}

type Engine = 'sqlite' | 'mariadb' | 'mysql'

const INSERT = 'INSERT INTO library_notes (note) VALUES (?)'
const pathOf = (url: string) => url.slice('sqlite:'.length)
const uriOf = (url: string) => url.replace(/^mariadb:/, 'mysql:')
const forName = (isolation: Isolation) => (isolation === 'serializable' ? 'Serializable' : 'ReadCommitted')

function partsOf(url: string) {
  const { hostname: host, port, username: user, password, pathname } = new URL(url)
  return { host, port: Number(port), user, password: decodeURIComponent(password), database: pathname.slice(1) }
}

/** Transactions that are begun and ended by statements. */
async function byStatements<T>(run: (sql: string) => unknown, work: () => Promise<T>, begin = 'BEGIN'): Promise<T> {
  await run(begin)
  try {
    const result = await work()
    await run('COMMIT')
    return result
  } catch (error) {
    await run('ROLLBACK')
    throw error
  }
}

async function openMysql2(url: string): Promise<Library> {
  const pool = createPromisePool({ uri: uriOf(url), rowsAsArray: true, namedPlaceholders: true })
  return {
    transaction: async (work, isolation) => {
      const own = await pool.getConnection()
      const note = (text: string) => own.execute(INSERT, [text])
      try {
        if (isolation) await own.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`)
        return await byStatements(
          (text) => own.query(text),
          () => work(fromMysql2(own), note),
        )
      } finally {
        own.release()
      }
    },
    outside: fromMysql2(pool),
    close: () => pool.end(),
  }
}

async function openBetterSqlite3(url: string): Promise<Library> {
  const db = new BetterSqlite3(pathOf(url))
  db.defaultSafeIntegers(true)
  return {
    transaction: (work) =>
      byStatements(
        (text) => db.exec(text),
        () => work(fromBetterSqlite3(db), async (text) => db.prepare(INSERT).run(text)),
        'BEGIN IMMEDIATE',
      ),
    outside: fromBetterSqlite3(db),
    close: async () => db.close(),
  }
}

async function openKnex(url: string, engine: Engine): Promise<Library> {
  const knex: Knex =
    engine === 'sqlite'
      ? knexOf({ client: 'better-sqlite3', connection: { filename: pathOf(url) }, useNullAsDefault: true })
      : knexOf({ client: 'mysql2', connection: uriOf(url) })
  return {
    transaction: (work, isolationLevel) =>
      knex.transaction((trx) => work(fromKnex(trx), (note) => trx('library_notes').insert({ note })), {
        ...(isolationLevel && { isolationLevel }),
      }),
    outside: fromKnex(knex),
    close: () => knex.destroy(),
  }
}

interface Tables {
  libraryNotes: { note: string }
}

async function openKysely(url: string, engine: Engine): Promise<Library> {
  const dialect =
    engine === 'sqlite'
      ? new SqliteDialect({ database: new BetterSqlite3(pathOf(url)) })
      : new MysqlDialect({ pool: createPool({ uri: uriOf(url) }) })
  const db = new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin()] })
  return {
    transaction: (work, isolation) => {
      const transaction = isolation ? db.transaction().setIsolationLevel(isolation) : db.transaction()
      return transaction.execute((trx) =>
        work(fromKysely(trx), (note) => trx.insertInto('libraryNotes').values({ note }).execute()),
      )
    },
    outside: fromKysely(db),
    close: () => db.destroy(),
  }
}

async function openDrizzle(url: string): Promise<Library> {
  const pool = createPromisePool({ uri: uriOf(url) })
  const db = drizzle(pool)
  return {
    transaction: (work, isolationLevel) =>
      db.transaction(
        (tx) =>
          work(fromDrizzle(tx, sql), (note) => tx.execute(sql`INSERT INTO library_notes (note) VALUES (${note})`)),
        isolationLevel && { isolationLevel },
      ),
    outside: fromDrizzle(db, sql),
    close: () => pool.end(),
  }
}

/** Drizzle's own transactions on better-sqlite3 end before a promise does. */
async function openDrizzleOnFile(url: string): Promise<Library> {
  const file = new BetterSqlite3(pathOf(url))
  const db = drizzleOnFile(file)
  return {
    transaction: (work) =>
      byStatements(
        (text) => db.run(text),
        () =>
          work(fromDrizzle(db, sql), async (note) => db.run(sql`INSERT INTO library_notes (note) VALUES (${note})`)),
      ),
    outside: fromDrizzle(db, sql),
    close: async () => file.close(),
  }
}

/** The two generated clients differ in nothing that is used here. */
function prismaOf(engine: 'mysql' | 'sqlite', adapter: PrismaMariaDb | PrismaBetterSqlite3): MysqlPrisma {
  const { PrismaClient } = require(`../node_modules/.recentn/${engine}`)
  return new PrismaClient({ adapter })
}

async function openPrisma(url: string, engine: Engine): Promise<Library> {
  const prisma =
    engine === 'sqlite'
      ? prismaOf('sqlite', new PrismaBetterSqlite3({ url: `file:${pathOf(url)}` }))
      : prismaOf(
          'mysql',
          new PrismaMariaDb({ ...partsOf(url), allowPublicKeyRetrieval: true }, { useTextProtocol: true }),
        )
  return {
    transaction: (work, isolation) =>
      prisma.$transaction((tx) => work(fromPrisma(tx), (note) => tx.note.create({ data: { note } })), {
        timeout: 60_000,
        ...(isolation && { isolationLevel: forName(isolation) }),
      }),
    outside: fromPrisma(prisma),
    close: () => prisma.$disconnect(),
  }
}

async function openSequelize(url: string): Promise<Library> {
  const sequelize = new Sequelize(uriOf(url), { dialect: 'mysql', dialectModule: require('mysql2'), logging: false })
  const levels = { serializable: 'SERIALIZABLE', 'read committed': 'READ COMMITTED' }
  return {
    transaction: (work, isolation) =>
      sequelize.transaction({ ...(isolation && { isolationLevel: levels[isolation] as never }) }, (transaction) =>
        work(fromSequelize(sequelize, transaction), (note) =>
          sequelize.query(INSERT, { replacements: [note], transaction }),
        ),
      ),
    // Without a transaction each statement takes a connection of the pool.
    outside: fromSequelize(sequelize, undefined),
    close: () => sequelize.close(),
  }
}

const NOTE = new EntitySchema<{ note: string }>({
  name: 'Note',
  tableName: 'library_notes',
  properties: { note: { type: 'string', primary: true } },
})

async function openMikroOrm(url: string, engine: Engine): Promise<Library> {
  const { database: dbName, ...server } = partsOf(url)
  const driver = engine === 'mariadb' ? MariaDbDriver : MySqlDriver
  const orm = await MikroORM.init<MySqlDriver>({ ...server, dbName, driver: driver as never, entities: [NOTE] })
  return {
    transaction: (work, isolation) =>
      orm.em.fork().transactional(
        (em) =>
          work(fromMikroOrm(em), async (note) => {
            await em.insert(NOTE, { note })
          }),
        isolation && { isolationLevel: isolation as never },
      ),
    outside: fromMikroOrm(orm.em.fork()),
    close: () => orm.close(),
  }
}

export const LIBRARIES: readonly { name: string; engines: readonly Engine[]; open: typeof openKnex }[] = [
  { name: 'mysql2', engines: ['mariadb', 'mysql'], open: openMysql2 },
  { name: 'better-sqlite3', engines: ['sqlite'], open: openBetterSqlite3 },
  { name: 'Knex', engines: ['sqlite', 'mariadb', 'mysql'], open: openKnex },
  { name: 'Kysely', engines: ['sqlite', 'mariadb', 'mysql'], open: openKysely },
  { name: 'Drizzle', engines: ['mariadb', 'mysql'], open: openDrizzle },
  { name: 'Drizzle', engines: ['sqlite'], open: openDrizzleOnFile },
  { name: 'Prisma', engines: ['sqlite', 'mariadb', 'mysql'], open: openPrisma },
  { name: 'Sequelize', engines: ['mariadb', 'mysql'], open: openSequelize },
  { name: 'MikroORM', engines: ['mariadb', 'mysql'], open: openMikroOrm },
]
