/** The list in parts of at most `size`: what one statement, or one transaction, takes. */
export function chunksOf<T>(list: readonly T[], size: number): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < list.length; start += size) chunks.push(list.slice(start, start + size))
  return chunks
}

/** The list in parts of at most `maxLength` elements and `maxSum` of their sizes, but always one element at least. */
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
