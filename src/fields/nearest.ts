/** What the caller of an unknown option, field or parameter probably meant. Owns nothing. */

/** Names that are longer are not compared: the work grows with the square of the length. */
const MAX_LENGTH = 40
const MIN_PREFIX = 3

/** `said`, and the known name that is nearest to the unknown one, if one is near enough to be meant. */
export function unknownDetail(said: string, name: string, known: Iterable<string>): string {
  const meant = nearestName(name, known)
  return meant === null ? said : `${said}; did you mean ${meant}?`
}

/** A name that begins with the given one, or that is at most two letters away from it; null if there is none. */
function nearestName(name: string, known: Iterable<string>): string | null {
  if (name.length < MIN_PREFIX || name.length > MAX_LENGTH) return null
  const given = name.toLowerCase()
  // Two letters are too much of a short name.
  let least = Math.min(3, Math.ceil(name.length / 3))
  let nearest: string | null = null
  for (const one of known) {
    const other = one.toLowerCase()
    const isOfOtherLength = Math.abs(other.length - given.length) >= least
    const distance = other.startsWith(given) ? 0 : isOfOtherLength ? least : distanceOf(given, other)
    if (distance < least) {
      least = distance
      nearest = one
    }
  }
  return nearest
}

/** Letters to add, remove or replace (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
