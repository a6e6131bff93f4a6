/** Calls of the server that the page came from. The client does not retry here, because the pages ask again by themselves. */

import { decoded, type Headed } from '../client/format'
import type { Operation } from '../client/schemas'
import { Transport } from '../client/transport'
import { RecentnError } from '../shared/recentn-error'
import { hasKeys, keyName, session } from './session'
import { parseExactly } from './value'

/** How far the server's clock is ahead of this one's, in milliseconds. */
let clockAhead = 0
const NOTABLE_MS = 2000

export function serverNow(): number {
  return Date.now() + clockAhead
}

function noteClock(response: Response): void {
  // The header has whole seconds.
  const ahead = Date.parse(response.headers.get('Date') ?? '') + 500 - Date.now()
  clockAhead = Math.abs(ahead) > NOTABLE_MS ? ahead : 0
}

/**
 * The last answers of pages, by their addresses, so that the way back to one shows it at once, and its scroll position fits.
 * They end with a change that was made here, for a list would show what was deleted, and with the key: another may see less.
 */
export const answers = new Map<string | undefined, unknown>()
session.onChange(() => answers.clear())

export const transport = new Transport({
  // Relative, so that a proxy may serve everything below a path.
  baseUrl: '.',
  key: () => session.key ?? undefined,
  retries: 0,
  timeoutSeconds: 20,
  parse: (text) => decoded(parseExactly(text)),
  fetch: async (target, init) => {
    // An app that the dashboard is mounted in may know its users by a cookie.
    const response = await fetch(target, { ...init, cache: 'no-store', credentials: 'same-origin' })
    noteClock(response)
    if (init?.method !== undefined && init.method !== 'GET') answers.clear()
    return response
  },
})

/** The answer of the operation. Throws `RecentnError`, and the reason of the signal. */
export function ask<Answer, Parts>(
  operation: Operation<Answer, Parts>,
  parts: NoInfer<Parts> & Headed,
  signal?: AbortSignal,
): Promise<Answer> {
  return transport.value(operation, parts, { signal })
}

/** Rows of one page of a list. */
export const PAGE_LENGTH = 50

export function pageQuery(after: string | null, prefix = '', contains = '') {
  const names = { prefix: prefix || undefined, contains: contains || undefined }
  return { limit: PAGE_LENGTH, after: after ?? undefined, ...names }
}

export function toError(thrown: unknown): RecentnError {
  return thrown instanceof RecentnError ? thrown : new RecentnError('internal', 'Internal error', { cause: thrown })
}

/** Whether a key, or another key, would help. */
export function isAccessError({ status }: RecentnError): boolean {
  return status === 401 || status === 403
}

/** Such as the page of a login, to which a request without one was redirected. */
const NOT_OURS = 'The answer is not from recentn. You may have to log in again.'

/** The error in words, for people. */
export function sentenceOf({ code, status, message, cause }: RecentnError): string {
  if (status === 401 && !hasKeys) return 'You are not logged in. Log in to the app, and this page continues.'
  if (status === 401 && session.key === null) return 'This server wants an API key.'
  if (code === 'unreachable') {
    const isLate = (cause as Error | undefined)?.name === 'TimeoutError'
    return isLate ? 'The server took too long to answer.' : 'The server does not answer.'
  }
  if (code === 'unexpected_answer' && status < 400) return NOT_OURS
  const said = code === 'unexpected_answer' ? `The server answered ${status}.` : message
  if (status === 401) return `The server does not take ${keyName(session.key ?? '')}: ${said}.`
  return status === 403 ? `Not allowed. ${said}.` : said
}
