/** The list in parts of at most `size`: what one statement, or one transaction, takes. */
export function chunksOf<T>(list: readonly T[], size: number): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < list.length; start += size) chunks.push(list.slice(start, start + size))
  return chunks
}
