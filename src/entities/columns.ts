/** The kinds of columns that the tables have. */
import type { ValueTransformer } from 'typeorm'

/**
 * BIGINT columns as JavaScript's `bigint`. mysql2 returns them as strings. better-sqlite3 returns exact bigints on a
 * connection with `defaultSafeIntegers`, which `openStore` sets, and numbers otherwise: those above 2^53 are refused,
 * because they may be wrong.
 */
const asBigint: ValueTransformer = {
  to: (value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  from: (value: unknown) => {
    if (value === null || value === undefined) return null
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      throw new RangeError(
        'A BIGINT came back rounded: set defaultSafeIntegers(true) in prepareDatabase of the DataSource',
      )
    }
    return BigInt(value as string | number | bigint)
  },
}

/** The same for integers that fit a JavaScript number; a connection with safe integers returns them as `bigint`. */
export const asNumber: ValueTransformer = {
  to: (value: unknown) => value,
  from: (value: unknown) => (value === null || value === undefined ? null : Number(value)),
}

export const BIGINT = { type: 'bigint', transformer: asBigint } as const
/** A BIGINT whose values fit a JavaScript number: times in milliseconds, seconds, counts. */
export const LONG = { type: 'bigint', transformer: asNumber } as const
export const INTEGER = { type: 'integer', transformer: asNumber } as const
export const SMALLINT = { type: 'smallint', transformer: asNumber } as const
export const NAME = { type: 'varchar', length: 191 } as const
export const TEXT = { type: 'text' } as const
