/**
 * Statements that elsewhere commit by themselves, each call as a transaction: for a node of a Galera cluster. If another node
 * is faster, Galera may apply such a statement again after its rows were sent; the answer of a COMMIT says that it is done.
 *
 * Invariant: BEGIN and COMMIT go with the statements, on our own connections in one packet, so that no lock is held while this
 * process does something else. After an error the transaction is rolled back, or its connection closed.
 */
import type { HeldConnection } from '../connection'
import type { StatementAnswer, Statements, StatementValues } from '../engine'
import { type Setting, statementsOn, writingBy } from '../statements'

const BEGIN = { sql: 'START TRANSACTION', parameters: [] }
const COMMIT = { sql: 'COMMIT', parameters: [] }

/** Statements outside of a transaction of the caller's: each commits by itself, or is a transaction. */
export function separateOn(connection: HeldConnection, setting: Setting): Statements {
  const statements = statementsOn(connection, setting)
  return setting.engine.commitsAlone ? statements : asTransactions(statements, connection)
}

function asTransactions(statements: Statements, connection: HeldConnection): Statements {
  const together: Statements['together'] = async (list) => {
    if (list.length === 0) return []
    try {
      return (await statements.together([BEGIN, ...list, COMMIT])).slice(1, -1)
    } catch (error) {
      await connection.run('ROLLBACK', null).catch(() => connection.drop())
      throw error
    }
  }
  const execute = async (sql: string, parameters: StatementValues = []) => {
    const [answer] = await together([{ sql, parameters }])
    return answer as StatementAnswer
  }
  return writingBy(statements, {
    together,
    execute,
    rows: async (sql, parameters) =>
      sql.startsWith('SELECT') ? statements.rows(sql, parameters) : (await execute(sql, parameters)).rows,
  })
}
