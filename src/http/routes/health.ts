/**
 * `/livez`, `/readyz` and `/metrics`, for the operator of the process; `/v1/access`: what the caller may do, for user interfaces
 * that show only what works. `/v1/overview`: what is wrong now, in all queues, feeds and schedules whose names it may know.
 */
import { ACCESS, HEALTH, METRICS, OVERVIEW } from '../../fields/answers-process'
import { endsWithin } from '../../shared/backoff'
import { RecentnError } from '../../shared/errors'
import { CLOCK } from '../../shared/platform'
import { innerOf } from '../../store/inner'
import type { Store } from '../../store/types'
import type { Allowance } from '../access'
import { prefixParameter } from '../input/parameters'
import type { Metrics } from '../metrics/metrics'
import { answering, type Route, route, tagged } from '../route'
import { narrowed } from '../subjects'

/** The parts of the process that the routes report. */
interface ProcessState {
  metrics: Pick<Metrics, 'text' | 'contentType'>
  /** Aborted when the process is about to stop. */
  draining?: AbortSignal
}

/** A probe gets its answer within this time. */
const READY_MS = 2000

/** The running query of each store's database: probes that come while it runs share it. */
const looks = new WeakMap<Store, Promise<void>>()

async function requireDatabase(store: Store): Promise<void> {
  const look = looks.get(store) ?? store.ping().finally(() => looks.delete(store))
  looks.set(store, look)
  if (await endsWithin(CLOCK, READY_MS, look)) return
  throw new RecentnError('database_unavailable', `The database has not answered within ${READY_MS / 1000} s`)
}

/** Not a 503: all processes share the disk, and reads still work. */
const DISK_FULL = HEALTH.json({
  status: 'ok',
  warning: 'The disk of the database is full: a write has failed, and none has succeeded since',
})

const OK = HEALTH.json({ status: 'ok' })

const livez = route('GET /livez', {
  scope: null,
  ignoresQuery: true,
  id: 'livez',
  summary: 'Check that the process answers',
  outcomes: { 200: { description: 'The process answers.', shape: HEALTH } },
  handle: async () => OK,
})

const readyz = (draining?: AbortSignal) =>
  route('GET /readyz', {
    scope: null,
    ignoresQuery: true,
    id: 'readyz',
    summary: 'Check that the process and its database answer',
    description:
      'The answer comes within 2 seconds. Once the process has received the signal to stop, it is 503 `draining`. While ' +
      'writes of the process fail because the disk of the database is full, it is 200 with a `warning`.',
    outcomes: { 200: { description: 'Both answer.', shape: HEALTH } },
    refusals: ['draining'],
    async handle(store) {
      if (draining?.aborted) throw new RecentnError('draining')
      await requireDatabase(store)
      return innerOf(store).counts().isDiskFull ? DISK_FULL : OK
    },
  })

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const metricsRoute = (metrics: ProcessState['metrics']) =>
  route('GET /metrics', {
    scope: 'read',
    // Metrics are sums over all names.
    about: () => [
      { kind: 'groups', prefix: '' },
      { kind: 'queues', prefix: '' },
      { kind: 'feeds', prefix: '' },
    ],
    answersAlone: true,
    id: 'metrics',
    summary: 'Read metrics for Prometheus',
    description: 'Keys that are confined to a prefix are refused.',
    outcomes: { 200: { description: 'The metrics.', shape: METRICS, type: METRICS_TYPE } },
    async handle(_store, { within }) {
      if (within !== null)
        throw new RecentnError('forbidden', 'Metrics are sums over all names: the key must have no prefix')
      return { status: 200, body: await metrics.text(), type: metrics.contentType }
    },
  })

export function processRoutes({ metrics, draining }: ProcessState): readonly Route[] {
  return tagged('Process', [livez, readyz(draining), metricsRoute(metrics)])
}

const access = answering('GET /v1/access', {
  scope: null,
  tellsAccess: true,
  id: 'getAccess',
  summary: 'Read what the caller may do',
  description:
    'Any valid key may call it, whatever its scopes. `scopes` lists the scopes that the caller has; a key with `admin` has ' +
    'all of them. The names of groups, queues, schedules, feeds and policies must begin with `prefix`; null allows all names.',
  gives: [ACCESS, 'The scopes and the prefix.'],
  async call(_store, { allowance }) {
    const { scopes, prefix } = allowance as Allowance
    return { scopes: [...scopes], prefix }
  },
})

const overview = answering('GET /v1/overview', {
  scope: 'read',
  about: ({ query: { prefix = '' } }) => (['queues', 'feeds', 'schedules'] as const).map((kind) => ({ kind, prefix })),
  queryParameters: {
    prefix: prefixParameter('Return only troubles of queues, feeds and schedules whose names begin with this.', 'mail'),
  },
  id: 'getOverview',
  summary: 'Read what is wrong now, the worst first',
  description: 'The answer is a few seconds old at most, unless counting takes long.',
  gives: [OVERVIEW, 'The troubles.'],
  async call(store, { query, within }) {
    const prefix = narrowed(query.prefix, within)
    const overview = await store.overview({ prefix: prefix ?? undefined })
    // No name begins with both prefixes.
    return prefix === null ? { ...overview, troubles: [], total: 0 } : overview
  },
})

export const callerRoutes: readonly Route[] = [...tagged('Overview', [overview]), ...tagged('Access', [access])]
