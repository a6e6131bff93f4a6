import { existsSync } from 'node:fs'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { describeEngine, ENGINES, engineUrl, freshDatabase } from './engines'
import { engineOf, mysqlUri } from './servers/server'

async function query(url: string, statement: string): Promise<RowDataPacket[]> {
  const connection = await createConnection({ uri: mysqlUri(url) })
  try {
    const [rows] = await connection.query<RowDataPacket[]>(statement)
    return rows
  } finally {
    await connection.end()
  }
}

for (const name of ENGINES.filter((engine) => engine !== 'sqlite')) {
  describeEngine(name, 'a fresh database', () => {
    it('is of the engine that was asked for, and may have 500 connections', async () => {
      const [row] = await query(engineUrl(name) ?? '', 'SELECT VERSION() AS version, @@max_connections AS connections')
      expect(engineOf(row?.version)).toBe(name)
      expect(row?.connections).toBeGreaterThanOrEqual(500)
    })

    it('is empty, its own, and gone after drop', async () => {
      const [first, second] = await Promise.all([freshDatabase(name), freshDatabase(name)])
      await query(first.url, 'CREATE TABLE only_here (id integer PRIMARY KEY)')
      expect(await query(first.url, 'SHOW TABLES')).toHaveLength(1)
      expect(await query(second.url, 'SHOW TABLES')).toHaveLength(0)
      await Promise.all([first.drop(), second.drop()])
      await expect(query(first.url, 'SHOW TABLES')).rejects.toMatchObject({ code: 'ER_BAD_DB_ERROR' })
    })

    it('keeps every character of Unicode', async () => {
      const database = await freshDatabase(name)
      await query(database.url, 'CREATE TABLE names (name varchar(20) PRIMARY KEY)')
      await query(database.url, "INSERT INTO names VALUES ('a🦀é')")
      expect(await query(database.url, 'SELECT name FROM names')).toEqual([{ name: 'a🦀é' }])
      await database.drop()
    })
  })
}

describe('a fresh database of SQLite', () => {
  it('is a file in its own folder, gone after drop', async () => {
    const [first, second] = await Promise.all([freshDatabase('sqlite'), freshDatabase('sqlite')])
    const folder = first.url.replace(/^sqlite:/, '').replace(/\/recentn\.db$/, '')
    expect(first.url).not.toBe(second.url)
    expect(existsSync(folder)).toBe(true)
    await Promise.all([first.drop(), second.drop()])
    expect(existsSync(folder)).toBe(false)
  })

  it('is in memory when asked', async () => {
    expect((await freshDatabase('sqlite', { memory: true })).url).toBe('sqlite::memory:')
  })
})
