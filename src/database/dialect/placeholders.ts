/**
 * Finds the placeholders of a statement, question marks outside of quotes and comments, and the semicolons that would end
 * it. The meaning of a backslash in quotes depends on the session (NO_BACKSLASH_ESCAPES), so a text whose placeholders
 * depend on it is refused.
 */

/** Finds quotes, comments, placeholders and semicolons; last the beginning of a quote or comment that is never closed. */
interface Spelling {
  plain: RegExp
  /** Where a backslash escapes. */
  escaping: RegExp
}

const COMMON = '`[^`]*`|/\\*[^]*?\\*/|[?;\'"`]|/\\*'
const PLAIN = '\'[^\']*\'|"[^"]*"'
const ESCAPING = '\'(?:\\\\[^]|[^\'\\\\])*\'|"(?:\\\\[^]|[^"\\\\])*"'

/** `own`: the comments and quotes that the engine alone has. */
const spelling = (own: string): Spelling => ({
  plain: new RegExp(`${PLAIN}|${own}|${COMMON}`, 'g'),
  escaping: new RegExp(`${ESCAPING}|${own}|${COMMON}`, 'g'),
})

/** `#` begins a comment, and `--` only before a space. */
export const MYSQL_SPELLING = spelling('#[^\\n]*|--(?![^\\0- ])[^\\n]*')
/** A name may be in square brackets. */
export const SQLITE_SPELLING = spelling('--[^\\n]*|\\[[^\\]]*\\]|\\[')

const OPENS = new Set(["'", '"', '`', '[', '/*'])
/** A comment that MySQL or MariaDB runs as SQL. */
const EXECUTED = /^\/\*M?!/

const isSeparator = (token: string): boolean => token === ';' || (EXECUTED.test(token) && token.includes(';'))

/** The statement with a text in place of each placeholder. */
export function filled(sql: string, { plain }: Spelling, next: () => string): string {
  return sql.replace(plain, (token) => (token === '?' ? next() : token))
}

/** As `Engine.placeholders`: null also where it depends on the session. */
export function countPlaceholders(sql: string, { plain, escaping }: Spelling): number | null {
  const [positions, others] = [plain, escaping].map((pattern) => {
    const tokens = [...sql.matchAll(pattern)]
    if (tokens.some(([token]) => OPENS.has(token) || isSeparator(token))) return null
    return tokens.flatMap(({ 0: token, index }) => (token === '?' ? index : []))
  })
  return positions && others && positions.join() === others.join() ? positions.length : null
}

/** True if a semicolon outside of quotes and comments is followed by more than space. */
export function holdsSeparator(sql: string, { escaping }: Spelling): boolean {
  for (const { 0: token, index } of sql.matchAll(escaping)) {
    if (OPENS.has(token)) return false
    if (isSeparator(token) && (token.length > 1 || sql.slice(index + 1).trim() !== '')) return true
  }
  return false
}
