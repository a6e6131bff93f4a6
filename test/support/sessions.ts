/** The connections of a server. Neither information_schema.PROCESSLIST nor innodb_trx of MySQL can be read while a statement with an emoji runs. */
interface Session {
  id: number
  user: string
  database: string | null
  seconds: number
  state: string | null
  sql: string
}

export async function sessionsOf(query: (sql: string) => Promise<Record<string, unknown>[]>): Promise<Session[]> {
  const rows = await query('SHOW FULL PROCESSLIST')
  return rows.map(({ Id, User, db, Time, State, Info }) => ({
    ...{ id: Number(Id), user: User as string, database: db as string | null, seconds: Number(Time) },
    ...{ state: State as string | null, sql: String(Info ?? '') },
  }))
}

/** The rows of a look at those tables: none where MySQL cannot read them at this moment. The caller looks again. */
export async function whereReadable<Row>(look: Promise<Row[]>): Promise<Row[]> {
  return await look.catch((error: Error) => {
    if (/^Cannot convert string/.test(error.message)) return []
    throw error
  })
}
