/** `/livez`, `/readyz` and `/metrics`, for whoever runs the process. */
import { RecentnError } from '../../errors'
import type { Metrics } from '../metrics/metrics'
import { ok, type Route, route } from '../route'

/** What the routes tell of. */
export interface ProcessState {
  metrics: Pick<Metrics, 'text' | 'contentType'>
  /** Aborted when the process is about to stop. */
  draining?: AbortSignal
}

const OK = JSON.stringify({ status: 'ok' })
const example = { status: 'ok' }

const livez = route({
  method: 'get',
  path: '/livez',
  scope: null,
  about: () => [],
  ignoresQuery: true,
  operation: {
    id: 'livez',
    tag: 'Process',
    summary: 'Whether the process answers',
    outcomes: { 200: { description: 'It does.', schema: 'Health', example } },
  },
  handle: async () => ok(OK),
})

const readyz = (draining?: AbortSignal) =>
  route({
    method: 'get',
    path: '/readyz',
    scope: null,
    about: () => [],
    ignoresQuery: true,
    operation: {
      id: 'readyz',
      tag: 'Process',
      summary: 'Whether the database answers too',
      description: 'No longer (503 `draining`) from the moment at which the process is told to stop.',
      outcomes: { 200: { description: 'It does.', schema: 'Health', example } },
      refusals: ['draining'],
    },
    async handle(store) {
      if (draining?.aborted) throw new RecentnError('draining')
      await store.ping()
      return ok(OK)
    },
  })

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
const METRICS_EXAMPLE = '# HELP recentn_database_up Whether the database answered within a second.\n# TYPE …'

const metricsRoute = (metrics: ProcessState['metrics']) =>
  route({
    method: 'get',
    path: '/metrics',
    scope: 'read',
    // They tell of all names together.
    about: () => [
      { kind: 'groups', prefix: '' },
      { kind: 'queues', prefix: '' },
      { kind: 'feeds', prefix: '' },
    ],
    answersAlone: true,
    operation: {
      id: 'metrics',
      tag: 'Process',
      summary: 'What the process did and is at, for Prometheus',
      description: 'Not for keys that are confined to a prefix.',
      outcomes: {
        200: { description: 'Metrics.', schema: 'Metrics', example: METRICS_EXAMPLE, type: METRICS_TYPE },
      },
    },
    async handle(_store, { within }) {
      if (within !== null) throw new RecentnError('forbidden', 'Metrics are of all names: the key must have no prefix')
      return { status: 200, body: await metrics.text(), type: metrics.contentType }
    },
  })

export function processRoutes({ metrics, draining }: ProcessState): readonly Route[] {
  return [livez, readyz(draining), metricsRoute(metrics)]
}
