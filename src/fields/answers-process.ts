/** The answers about the process, and about what a caller may do. */
import type { ApiKey } from '../shared/key-types'
import { type AnswerOf, answer, constant, list, type NamedComponent, of, optional, orNull, text } from './answers'
import { SCOPES } from './keys'
import { oneOf } from './rules'

export const HEALTH: AnswerOf<{ status: 'ok'; warning?: string }> = answer('Health', {
  status: constant('ok'),
  warning: optional(
    text(),
    "Only in `readyz`, and only if this process's writes fail because the database's disk is full.",
  ),
})
export const METRICS: NamedComponent = {
  name: 'Metrics',
  component: { type: 'string', description: 'The text format of Prometheus.' },
  example: '# HELP recentn_database_up Whether the database answered within a second.\n# TYPE …',
}
export const ACCESS: AnswerOf<Pick<ApiKey, 'scopes' | 'prefix'>> = answer('Access', {
  scopes: list(of(oneOf(SCOPES)), ['append', 'read']),
  prefix: orNull(text()),
})
