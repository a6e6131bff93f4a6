/** Calls of the server that the page came from. The client does not retry here, because the pages ask again by themselves. */

import { decoded, type Headed } from '../client/format'
import type { Operation } from '../client/schemas'
import { Transport } from '../client/transport'
import { RecentnError } from '../shared/recentn-error'
import type { PageQuery } from './address'
import { hasKeys, keyName, session } from './session'

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }

const keepNumber: Reviver = (_key, value, { source } = {}) =>
  typeof value !== 'number' || source === undefined || String(value) === source ? value : (rawJSON?.(source) ?? value)

/**
 * Numbers that a double can't hold keep their text. Browsers before Chrome 114, Firefox 135 and Safari 18.4 can't tell the
 * text of a number, and show it rounded.
 */
export function parseExactly(text: string): unknown {
  // Plain parsing is several times faster, and is used unless there may be such a number.
  return JSON.parse(text, /\d{16}|\d[.eE]\d*/.test(text) ? (keepNumber as Parameters<typeof JSON.parse>[1]) : undefined)
}

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

export function pageQuery({ after, prefix, contains }: Partial<PageQuery>) {
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

/** The error in words, for people. */
export function sentenceOf({ code, status, message, cause }: RecentnError): string {
  if (status === 401 && !hasKeys) return 'You are not logged in. Log in to the app, and this page continues.'
  if (status === 401 && session.key === null) return 'This server wants an API key.'
  if (code === 'unreachable') {
    const isLate = (cause as Error | undefined)?.name === 'TimeoutError'
    return isLate ? 'The server took too long to answer.' : 'The server does not answer.'
  }
  // Such as the page of a login, to which a request without one was redirected.
  if (code === 'unexpected_answer' && status < 400) {
    return 'The answer is not from recentn. You may have to log in again.'
  }
  const said = code === 'unexpected_answer' ? `The server answered ${status}.` : message
  if (status === 401) return `The server does not take ${keyName(session.key ?? '')}: ${said}.`
  return status === 403 ? `Not allowed. ${said}.` : said
}
