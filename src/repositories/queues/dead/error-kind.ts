/** Errors that differ only in numbers and ids are of one kind. Owns how the text of a kind is made; no SQL. */

/** Characters of a kind: what follows rarely tells errors apart. */
const MAX_KIND_CHARACTERS = 200

/** A word with a digit in it: a number, an id, a time, an address. */
const NUMBERED = /[\p{L}\p{N}_.:@/-]*\p{N}[\p{L}\p{N}_.:@/-]*/gu
/** Statuses of HTTP and SMTP tell errors apart. */
const STATUS = /^[1-5]\d\d[.:]?$/
/** A number before one of these is an amount. */
const UNIT = /^ ?(?:ms|s|sec|seconds|min|minutes|h|hours|bytes|[kMG]i?B|%|times|rows|messages|items)(?!\w)/i

/** The kind of an error: `#` in place of each number and id. That of a kind is itself; that of no error is ''. */
export function errorKind(error: string | null): string {
  if (error === null) return ''
  const plain = error.replace(/\s+/g, ' ').trim()
  const kind = plain.replace(NUMBERED, (word, at: number) =>
    STATUS.test(word) && !UNIT.test(plain.slice(at + word.length)) ? word : '#',
  )
  return Array.from(kind).slice(0, MAX_KIND_CHARACTERS).join('').trimEnd()
}
