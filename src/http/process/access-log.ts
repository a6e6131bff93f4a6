/** A line for each request, once it is over. Who asks whether the process lives, or scrapes it, is told at `debug`. */
import type { IncomingMessage } from 'node:http'
import type { Observer, Trace } from '../metrics/traffic'
import { withoutSecrets } from '../secrets'
import type { Log } from './log'

const QUIET = new Set(['/livez', '/readyz', '/metrics'])

export function accessLog(log: Log): Observer {
  return {
    ended(trace, status, durationMs) {
      const level = QUIET.has(trace.route ?? '') ? 'debug' : 'info'
      if (!log.has(level)) return
      const { request, response, keyId, problem } = trace
      const durationText = durationMs.toFixed(2)
      const method = request.method ?? ''
      const route = routeOf(trace)
      const requestId = response.getHeader('X-Request-Id')
      log.write(level, `${method} ${route} ${status} ${durationText} ms (request ${requestId})`, {
        event: 'request',
        method,
        route,
        ...(log.has('debug') && { path: pathOf(request) }),
        status,
        durationMs: Number(durationText),
        requestId,
        ...(keyId !== null && { keyId }),
        ...(problem !== null && { problem }),
      })
    },
  }
}

/** What a line tells of the path; names are not in it. */
export function routeOf({ route }: Pick<Trace, 'route'>): string {
  return route ?? 'unknown'
}

/** The path, which has names in it, and what was asked. */
export function pathOf(request: IncomingMessage): string {
  const { originalUrl, url = '' } = request as IncomingMessage & { originalUrl?: string }
  return withoutSecrets(originalUrl ?? url)
}
