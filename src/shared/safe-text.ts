/**
 * Errors as texts that logs may tell. A driver's error has the statement and its values, as fields and in its message: a duplicate
 * entry, the text near a syntax error. They are users' data, and no log is the place for them.
 */

/** These name tables, columns and accounts, which say what is wrong, and no values. */
const NAMES_ONLY: ReadonlySet<unknown> = new Set([
  'ER_NO_SUCH_TABLE',
  'ER_BAD_TABLE_ERROR',
  'ER_BAD_DB_ERROR',
  'ER_ACCESS_DENIED_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
  'ER_TABLEACCESS_DENIED_ERROR',
  'ER_COLUMNACCESS_DENIED_ERROR',
])

function isOfDriver(error: Error): boolean {
  const { code } = error as { code?: unknown }
  return 'sql' in error || 'sqlMessage' in error || 'query' in error || /^(?:ER_|SQLITE_)/.test(String(code))
}

/** The message; of a driver's error without what it quotes. */
export function safeMessage(error: Error): string {
  if (!isOfDriver(error) || NAMES_ONLY.has((error as { code?: unknown }).code)) return error.message
  // From the first quote to the last one: a value may have quotes in it.
  return error.message.replace(/(['"`])[\s\S]*['"`]/, '$1…$1')
}

/** The stack, with that message. */
export function safeStack(error: Error): string | undefined {
  const message = safeMessage(error)
  if (message === error.message || error.stack === undefined) return error.stack
  const frames = error.stack.split('\n').filter((line) => /^\s+at /.test(line))
  return [`${error.name}: ${message}`, ...frames].join('\n')
}

/** The thrown value, as one sentence. */
export function safeText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${safeMessage(error)}` : String(error)
}
