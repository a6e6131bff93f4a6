/**
 * Where the placeholders of a statement are: question marks outside of quotes and comments. What a backslash in quotes
 * means depends on the session (NO_BACKSLASH_ESCAPES), so that a text whose placeholders depend on it is not taken.
 */

export interface Spelling {
  /** A comment begins at `#`, and `--` begins one only before a space. */
  hash: boolean
  /** Square brackets may quote a name. */
  brackets: boolean
}

export const MYSQL_SPELLING: Spelling = { hash: true, brackets: false }
export const SQLITE_SPELLING: Spelling = { hash: false, brackets: true }

const QUOTE = 0x27
const DOUBLE_QUOTE = 0x22
const BACKTICK = 0x60
const PLACEHOLDER = 0x3f
const HASH = 0x23
const DASH = 0x2d
const SLASH = 0x2f
const BRACKET = 0x5b
const SPACE = 0x20

/** The index of the placeholder at or after `from`; -1 for none, or where a quote or comment is never closed. */
export function nextPlaceholder(sql: string, from: number, spelling: Spelling, escapes = false): number {
  for (let index = from; index < sql.length; index++) {
    const unit = sql.charCodeAt(index)
    // Letters are most of it.
    if (unit > BACKTICK || (unit > PLACEHOLDER && unit < BRACKET)) continue
    if (unit === PLACEHOLDER) return index
    index = behind(sql, index, unit, spelling, escapes)
    if (index < 0) return -1
  }
  return -1
}

/** How many placeholders there are; null where that can't be said, or where the text leaves a quote or comment open. */
export function countPlaceholders(sql: string, spelling: Spelling): number | null {
  const [plain, escaped] = [positions(sql, spelling, false), positions(sql, spelling, true)]
  if (plain === null || escaped === null || plain.join() !== escaped.join()) return null
  return plain.length
}

function positions(sql: string, spelling: Spelling, escapes: boolean): number[] | null {
  const found: number[] = []
  for (let index = 0; index < sql.length; index++) {
    const unit = sql.charCodeAt(index)
    if (unit === PLACEHOLDER) found.push(index)
    index = behind(sql, index, unit, spelling, escapes)
    if (index < 0) return null
  }
  return found
}

/** The last character of the quotes or comment that begins here, or the same index; -1: it is never closed. */
function behind(sql: string, index: number, unit: number, { hash, brackets }: Spelling, escapes: boolean): number {
  switch (unit) {
    case QUOTE:
    case DOUBLE_QUOTE:
      return closing(sql, index + 1, unit, escapes)
    case BACKTICK:
      return closing(sql, index + 1, unit, false)
    case BRACKET:
      return brackets ? sql.indexOf(']', index) : index
    case HASH:
      return hash ? lineEnd(sql, index) : index
    case DASH: {
      const begins = sql.charCodeAt(index + 1) === DASH && (!hash || !(sql.charCodeAt(index + 2) > SPACE))
      return begins ? lineEnd(sql, index) : index
    }
    case SLASH: {
      if (sql[index + 1] !== '*') return index
      const end = sql.indexOf('*/', index + 2)
      return end < 0 ? -1 : end + 1
    }
    default:
      return index
  }
}

/** A quote that is doubled closes and opens at once. */
function closing(sql: string, from: number, quote: number, escapes: boolean): number {
  for (let index = from; index < sql.length; index++) {
    const unit = sql.charCodeAt(index)
    if (escapes && unit === 0x5c) index++
    else if (unit === quote) return index
  }
  return -1
}

function lineEnd(sql: string, from: number): number {
  const end = sql.indexOf('\n', from)
  return end < 0 ? sql.length : end
}
