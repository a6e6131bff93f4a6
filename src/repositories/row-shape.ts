/**
 * Rows as objects: one list of columns says what a statement reads, what is made of it, and of which type it is. A column is
 * read under the name of its property.
 */
import type { Engine, Reader, Row } from '../database/engine'
import { compiled } from '../fields/answers'

interface ShapeColumn<Value> {
  /** SQL that reads it. */
  sql: (engine: Engine) => string
  of: (value: unknown) => Value
}

type Columns = Readonly<Record<string, ShapeColumn<unknown>>>

type Shaped<All extends Columns> = { -readonly [Name in keyof All]: ReturnType<All[Name]['of']> }

function kind<Value>(of: (value: unknown) => Value, isBig = false) {
  const reading =
    (column: string) =>
    ({ bigint }: Engine) =>
      isBig ? bigint(column) : column
  const orNull = (value: unknown) => (value === null || value === undefined ? null : of(value))
  return {
    /** `column` is SQL. */
    of: (column: string): ShapeColumn<Value> => ({ sql: reading(column), of }),
    orNull: (column: string): ShapeColumn<Value | null> => ({ sql: reading(column), of: orNull }),
  }
}

export const column = {
  number: kind(Number),
  flag: kind((value) => Number(value) === 1),
  big: kind((value) => BigInt(value as string), true),
  text: kind((value) => value as string),
  /** Milliseconds since 1970. */
  time: kind((value) => new Date(Number(value))),
}

export function shaped<All extends Columns>(all: All) {
  const list = Object.entries(all)
  return {
    columns: ({ engine }: Pick<Reader, 'engine'>): string =>
      // Some names are words of SQL; all engines know backticks.
      list.map(([name, { sql }]) => `${sql(engine)} AS \`${name}\``).join(', '),
    // Messages come by the thousand: a loop over the columns takes four times as long.
    of: compiled<(row: Row) => Shaped<All>>((bind) => {
      const members = list.map(([name, { of }]) => `${name}: ${bind(of)}(row.${name})`)
      return `(row) => ({ ${members.join(', ')} })`
    }),
  }
}
