/** What the caller of an unknown option, field or parameter probably meant. Owns nothing. */
import { distance } from 'fastest-levenshtein'

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
    const letters = other.startsWith(given) ? 0 : distance(given, other)
    if (letters < least) {
      least = letters
      nearest = one
    }
  }
  return nearest
}
