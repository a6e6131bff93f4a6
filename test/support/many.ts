/** Rows by the thousand, without the statements that would make them one by one. */
import type { Store } from '../../src/index'

/** Doubles the rows of the table whose names begin with `many`, again and again; the copies have other names. */
export async function multiply(store: Store, table: string, name: string, doublings: number): Promise<void> {
  const [{ id: _, ...row }] = await store.dataSource.query(`SELECT * FROM ${table} WHERE ${name} = 'many'`)
  const columns = Object.keys(row)
  for (let n = 0; n < doublings; n++) {
    const values = columns.map((column) => (column === name ? `CONCAT(${name}, '-${n}')` : column))
    await store.dataSource.query(
      `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${table} WHERE ${name} LIKE 'many%'`,
    )
  }
}
