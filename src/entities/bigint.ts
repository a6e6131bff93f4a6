/**
 * BIGINT columns as JavaScript's `bigint`. mysql2 gives them as strings; better-sqlite3 gives exact bigints where the
 * connection was set so (`defaultSafeIntegers`, as `openStore` does) and else numbers, which are refused above 2^53
 * rather than given back wrong.
 */
import type { ValueTransformer } from 'typeorm'

export const asBigint: ValueTransformer = {
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

/** The same for integers that a JavaScript number holds, which come as `bigint` from a connection with safe integers. */
export const asNumber: ValueTransformer = {
  to: (value: unknown) => value,
  from: (value: unknown) => (value === null || value === undefined ? null : Number(value)),
}
