/**
 * Finds the placeholders of a statement, question marks outside of quotes and comments, and the semicolons that would end
 * it. The meaning of a backslash in quotes depends on the session (NO_BACKSLASH_ESCAPES), so a text whose placeholders
 * depend on it is refused.
 */

export interface Spelling {
  /** `#` begins a comment, and `--` only before a space. */
  hash: boolean
  /** A name may be in square brackets. */
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
const SEMICOLON = 0x3b
/** A comment that MySQL or MariaDB runs as SQL. */
const EXECUTED = /^\/\*M?!/

/** The index of the placeholder at or after `from`; -1 if there is none, or if a quote or comment is never closed. */
export function nextPlaceholder(sql: string, from: number, spelling: Spelling): number {
  for (let index = from; index < sql.length; index++) {
    const unit = sql.charCodeAt(index)
    // Most characters are letters: a fast way to skip them.
    if (unit > BACKTICK || (unit > PLACEHOLDER && unit < BRACKET)) continue
    if (unit === PLACEHOLDER) return index
    index = behind(sql, index, unit, spelling, false)
    if (index < 0) return -1
  }
  return -1
}

/** As `Engine.placeholders`: null also where it depends on the session. */
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
    const end = behind(sql, index, unit, spelling, escapes)
    if (end < 0 || isSeparator(sql, index, end)) return null
    index = end
  }
  return found
}

/** True if a semicolon outside of quotes and comments is followed by more than space. */
export function holdsSeparator(sql: string, spelling: Spelling, escapes: boolean): boolean {
  for (let index = 0; index < sql.length; index++) {
    const end = behind(sql, index, sql.charCodeAt(index), spelling, escapes)
    if (end < 0) return false
    if (isSeparator(sql, index, end) && (end > index || sql.slice(end + 1).trim() !== '')) return true
    index = end
  }
  return false
}

/** A semicolon, or an executed comment that contains one. */
function isSeparator(sql: string, from: number, end: number): boolean {
  if (end === from) return sql.charCodeAt(from) === SEMICOLON
  const text = sql.slice(from, end)
  return EXECUTED.test(text) && text.includes(';')
}

/** The index where the quotes or comment that begins here ends, or the same index; -1 if it is never closed. */
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

/** A doubled quote counts as a quote that closes and one that opens. */
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
