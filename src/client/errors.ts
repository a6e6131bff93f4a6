/** What the client makes of answers that are none of the good ones. The class is the library's. */
import { RecentnError } from '../errors'
import type { Problem } from './wire/answers'

/** The error of an answer that is none of the good ones. */
export function errorOf(status: number, headers: Headers, text: string): RecentnError {
  const problem = problemOf(headers, text)
  const facts = { status, requestId: headers.get('X-Request-Id') ?? undefined, retryAfterMs: retryAfterOf(headers) }
  if (problem === null) {
    const detail = `The answer (${status}) is not recentn's: ${text.slice(0, 200)}`
    return new RecentnError('unexpected_answer', detail, facts)
  }
  return new RecentnError(problem.code, problem.detail, { ...facts, faults: problem.errors })
}

function problemOf(headers: Headers, text: string): Problem | null {
  if (!headers.get('Content-Type')?.startsWith('application/problem+json')) return null
  try {
    const problem = JSON.parse(text)
    return typeof problem?.code === 'string' && typeof problem.detail === 'string' ? problem : null
  } catch {
    return null
  }
}

/** Seconds, or a date. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
