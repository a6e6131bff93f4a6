/** Lists in parts: what one statement or one transaction takes, and what belongs together. */

/** Keys or names of one list in a statement: a longer one may turn into a scan. */
export const MAX_KEYS = 250

/** Parts of at most `size` elements. */
export function chunksOf<T>(list: readonly T[], size: number): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < list.length; start += size) chunks.push(list.slice(start, start + size))
  return chunks
}

/** Parts of at most `maxLength` elements whose sizes add up to at most `maxSum`; a larger element is a part by itself. */
export function chunksBySize<T>(
  list: readonly T[],
  sizeOf: (element: T) => number,
  maxLength: number,
  maxSum: number,
): T[][] {
  const chunks: T[][] = []
  let sum = 0
  for (const element of list) {
    const size = sizeOf(element)
    const chunk = chunks.at(-1)
    if (chunk === undefined || chunk.length === maxLength || sum + size > maxSum) {
      chunks.push([element])
      sum = size
    } else {
      chunk.push(element)
      sum += size
    }
  }
  return chunks
}

export function groupedBy<T, K>(list: Iterable<T>, keyOf: (element: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const element of list) {
    const key = keyOf(element)
    const group = groups.get(key)
    if (group) group.push(element)
    else groups.set(key, [element])
  }
  return groups
}
