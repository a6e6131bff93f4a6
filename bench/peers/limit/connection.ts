/** Connections for the leanest statements, set as those of a store are, and the few words that the engines differ in. */
import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { databaseUrl } from '../recentn'

export async function openConnection(engine: string): Promise<Connection> {
  const connection = await mysql.createConnection({
    uri: databaseUrl(engine),
    multipleStatements: true,
    rowsAsArray: true,
    supportBigNumbers: true,
    // Otherwise the driver records a stack for each statement.
    ...{ trace: false },
  })
  await connection.query('SET NAMES utf8mb4')
  await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
  return connection
}

/** Whether a write can answer with the rows that it wrote. */
export async function hasReturning(connection: Connection): Promise<boolean> {
  const [[row]] = await connection.query<RowDataPacket[]>('SELECT VERSION()')
  return /mariadb/i.test(String((row as unknown as string[])[0]))
}

/** Runs `work` again when the server has chosen it as the victim of a deadlock, and has rolled it back. */
export async function retried<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      await connection.query('ROLLBACK')
      if (tries === 20 || (error as { errno?: number }).errno !== 1213) throw error
    }
  }
}

/** A text of the bench as SQL: none has a quote or a backslash, so that nothing is escaped. */
export function quoted(text: string): string {
  return `'${text}'`
}
