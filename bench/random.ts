/** Repeatable random choices, cheap enough to be no part of what is measured. */

/** Which group comes next. */
export type Pick = () => number

function generator(seed: number): () => number {
  let state = seed >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

export function even(count: number, seed = 1): Pick {
  const next = generator(seed * 2_654_435_761)
  return () => Math.floor(next() * count)
}

/** Zipf with exponent 1: the k-th group is chosen with a probability that goes as 1/k. Drawn by the alias method. */
export function zipf(count: number, seed = 1): Pick {
  let harmonic = 0
  for (let k = 1; k <= count; k++) harmonic += 1 / k
  const share = Float64Array.from({ length: count }, (_, index) => count / ((index + 1) * harmonic))
  const alias = new Int32Array(count)
  const small: number[] = []
  const large: number[] = []
  for (const [index, value] of share.entries()) (value < 1 ? small : large).push(index)
  while (small.length > 0 && large.length > 0) {
    const low = small.pop() as number
    const high = large.pop() as number
    alias[low] = high
    share[high] = (share[high] as number) - (1 - (share[low] as number))
    if ((share[high] as number) < 1) small.push(high)
    else large.push(high)
  }
  for (const rest of [...small, ...large]) share[rest] = 1
  const next = generator(seed * 2_654_435_761)
  return () => {
    const place = next() * count
    const index = Math.floor(place)
    return place - index < (share[index] as number) ? index : (alias[index] as number)
  }
}
