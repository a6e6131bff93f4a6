/**
 * Prometheus metrics of a store. The store and the router count in plain numbers; a scrape makes metrics of them. It
 * takes about a second at most, and leaves out what the database has not answered by then.
 */
import { collectDefaultMetrics, Registry } from 'prom-client'
import { argumentFaults, faultsOf, optionRules, refuse } from '../../fields/field'
import { aBoolean, aStore, option } from '../../fields/options'
import { endsWithin, sharing } from '../../shared/backoff'
import { CLOCK, performance } from '../../shared/platform'
import type { StoreTotals } from '../../store/counts'
import { innerOf } from '../../store/inner'
import type { Store } from '../../store/types'
import { packageVersion } from '../version'
import { FAMILIES, type Family, type Scraped } from './metric-families'
import { HttpCounts, type Observer } from './traffic'

/** The part of prom-client's registry that is used; any version has it. */
interface MetricRegistry {
  registerMetric(metric: object): void
  metrics(): Promise<string>
  readonly contentType: string
}

interface MetricsOptions {
  /** The registry of prom-client to add the metrics to, such as its global `register`. Default: a new one. */
  registry?: MetricRegistry | undefined
  /** The prefix of the names; a second store in the same registry needs another one. Default: `recentn_`. */
  prefix?: string | undefined
  /** Asks the database, at most every 4 seconds, what its queues and feeds hold. Default: true. */
  totals?: boolean | undefined
  /** Adds prom-client's metrics of the process (`process_…`, `nodejs_…`). Default: false. */
  processMetrics?: boolean | undefined
}

/** Metrics of a store, and of the routers that got them as an option. */
export interface Metrics {
  readonly registry: MetricRegistry
  /** The media type of `text()`. */
  readonly contentType: string
  /** Everything in the registry, as Prometheus reads it. */
  text(): Promise<string>
  /** @internal Counts requests. */
  readonly observer: Observer
}

/** Time between two samples of the event loop's lag. prom-client's 10 wakes an idle process a hundred times a second. */
const LAG_SAMPLE_MS = 50

const OPTIONS = optionRules<MetricsOptions>({
  registry: option((value) => (isRegistry(value) ? null : 'must be a registry of prom-client')),
  prefix: option((value) =>
    typeof value === 'string' && /^([a-zA-Z_:][a-zA-Z0-9_:]*)?$/.test(value)
      ? null
      : 'must be the beginning of a metric name: letters, digits, _ and :, not beginning with a digit',
  ),
  totals: aBoolean,
  processMetrics: aBoolean,
})

function isRegistry(value: unknown): boolean {
  const given = value as Partial<MetricRegistry> | null
  return typeof given?.registerMetric === 'function' && typeof given.metrics === 'function'
}

/**
 * Adds the metrics of a store to a registry of prom-client. `createRouter(store, { access, metrics })` then counts its
 * requests too. Serve `await metrics.text()` where your Prometheus scrapes, unless you serve the given registry
 * already. Throws `invalid_input` for options that are not valid, and the registry's own error if it has metrics of
 * these names.
 */
export function createMetrics(store: Store, options: MetricsOptions = {}): Metrics {
  refuse([...argumentFaults('store', store, aStore), ...faultsOf(options, OPTIONS)])
  const { prefix = 'recentn_', totals = true, processMetrics = false } = options
  const own = options.registry ? null : new Registry()
  const registry = options.registry ?? (own as Registry as MetricRegistry)
  const http = new HttpCounts()
  const scrape = new Scrape(store, http, totals)
  for (const family of FAMILIES) registry.registerMetric(metricOf(family, prefix, scrape))
  if (processMetrics) {
    collectDefaultMetrics({ register: registry as unknown as Registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS })
  }
  return {
    registry,
    observer: http,
    get contentType() {
      return registry.contentType
    },
    text: () => registry.metrics(),
  }
}

/** A metric in the shape that a registry of prom-client expects. */
function metricOf({ name, help, type, samples }: Family, prefix: string, scrape: Scrape) {
  const facts = { name: prefix + name, help, type, aggregator: 'sum' }
  return {
    ...facts,
    // A registry for OpenMetrics may have changed the name.
    async get(this: typeof facts) {
      const values = samples(await scrape.get()).map(({ labels, value, suffix }) => {
        return suffix === undefined ? { labels, value } : { labels, value, metricName: this.name + suffix }
      })
      return { name: this.name, help, type, aggregator: this.aggregator, values }
    },
    /** Does nothing: the counts belong to the store. */
    reset() {},
  }
}

const TIME_LIMIT_MS = 1000
/** How long old totals are repeated when new ones fail, while the database answers. */
const STALE_MS = 5 * 60_000

/** Reads the store once for all metrics of a scrape. */
class Scrape {
  /** All metrics of one scrape call it in the same turn, and share the answer. */
  readonly get = sharing(() => this.#look())
  /** One at a time, however often a database that does not answer is scraped. */
  readonly #ping = sharing(() => this.store.ping())
  #last: { totals: StoreTotals; at: number } | null = null

  constructor(
    private readonly store: Store,
    private readonly http: HttpCounts,
    private readonly wantsTotals: boolean,
  ) {}

  async #look(): Promise<Scraped> {
    const [ping, totals] = await Promise.all([
      soon(this.#ping()),
      this.wantsTotals ? soon(innerOf(this.store).totals()) : null,
    ])
    const now = performance.now()
    if (totals) this.#last = { totals: totals.answer, at: now }
    const isUp = ping !== null
    const isKnown = isUp && this.#last !== null && now - this.#last.at < STALE_MS
    return {
      counts: innerOf(this.store).counts(),
      http: this.http,
      isUp,
      totals: isKnown && this.#last !== null ? this.#last.totals : null,
      version: packageVersion(),
    }
  }
}

/** The answer; null if it fails or takes too long. */
async function soon<T>(asked: Promise<T>): Promise<{ answer: T } | null> {
  const isInTime = await endsWithin(CLOCK, TIME_LIMIT_MS, asked).catch(() => false)
  return isInTime ? { answer: await asked } : null
}
