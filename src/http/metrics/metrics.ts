/**
 * Prometheus metrics of a store. The store and the router count in plain numbers; here they are made into metrics when
 * somebody scrapes. A scrape takes about a second at most: what the database does not answer by then is left out.
 */
import { collectDefaultMetrics, Registry } from 'prom-client'
import { faultsOf, optionRules, refuse } from '../../fields/field'
import { aBoolean, option } from '../../fields/options'
import type { StoreTotals } from '../../store/counts'
import type { Store } from '../../store/types'
import { packageVersion } from '../version'
import { HttpCounts } from './http-counts'
import { FAMILIES, type Family, type Scraped } from './metric-families'
import type { Observer } from './traffic'

/** What is used of a registry of prom-client, of any version. */
export interface MetricRegistry {
  registerMetric(metric: object): void
  metrics(): Promise<string>
  readonly contentType: string
}

export interface MetricsOptions {
  /** A registry of prom-client that the metrics are added to, such as its global `register`; else one of their own. */
  registry?: MetricRegistry | undefined
  /** What the names begin with; `recentn_` when left out. For a second store in the same registry. */
  prefix?: string | undefined
  /** Ask the database, at most every 4 seconds, what is in its queues and feeds; true when left out. */
  totals?: boolean | undefined
  /** Metrics of the process too, as prom-client collects them (`process_…`, `nodejs_…`). */
  processMetrics?: boolean | undefined
}

/** Metrics of a store, and of the routers that they are given to. */
export interface Metrics {
  readonly registry: MetricRegistry
  /** The media type of `text()`. */
  readonly contentType: string
  /** Everything in the registry, as Prometheus reads it. */
  text(): Promise<string>
  /** @internal Is told of requests. */
  readonly observer: Observer
}

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
 * requests too; serve `await metrics.text()` where your Prometheus scrapes, or whatever serves the registry that you
 * gave. Throws `invalid_input` for options that are not valid, and an error of the registry's when that has metrics of
 * these names.
 */
export function createMetrics(store: Store, options: MetricsOptions = {}): Metrics {
  refuse(faultsOf(options, OPTIONS))
  const { prefix = 'recentn_', totals = true, processMetrics = false } = options
  const own = options.registry ? null : new Registry()
  const registry = options.registry ?? (own as Registry as MetricRegistry)
  const http = new HttpCounts()
  const scrape = new Scrape(store, http, totals)
  for (const family of FAMILIES) registry.registerMetric(new Metric(family, prefix, scrape))
  if (processMetrics) collectDefaultMetrics({ register: registry as unknown as Registry })
  return {
    registry,
    observer: http,
    get contentType() {
      return registry.contentType
    },
    text: () => registry.metrics(),
  }
}

/** As a registry of prom-client wants its metrics. */
class Metric {
  /** A registry for OpenMetrics changes it. */
  name: string
  readonly help: string
  readonly type: Family['type']
  readonly aggregator = 'sum'
  readonly #family: Family
  readonly #scrape: Scrape

  constructor(family: Family, prefix: string, scrape: Scrape) {
    this.name = prefix + family.name
    this.help = family.help
    this.type = family.type
    this.#family = family
    this.#scrape = scrape
  }

  async get() {
    const { name, help, type, aggregator } = this
    const scraped = await this.#scrape.get()
    const values = this.#family.samples(scraped).map(({ labels, value, suffix }) => {
      return suffix === undefined ? { labels, value } : { labels, value, metricName: name + suffix }
    })
    return { name, help, type, aggregator, values }
  }

  /** The counts are the store's, and go on. */
  reset(): void {}
}

/** What the database does not answer within this is not there. */
const PATIENCE_MS = 1000
/** Totals that could not be had anew are told again for so long, while the database answers. */
const STALE_MS = 5 * 60_000

/** One look at the store for all metrics of a scrape. */
class Scrape {
  readonly #store: Store
  readonly #http: HttpCounts
  readonly #wantsTotals: boolean
  #current: Promise<Scraped> | null = null
  #ping: Promise<unknown> | null = null
  #last: { totals: StoreTotals; at: number } | null = null

  constructor(store: Store, http: HttpCounts, wantsTotals: boolean) {
    this.#store = store
    this.#http = http
    this.#wantsTotals = wantsTotals
  }

  /** The metrics of one scrape ask in the same turn. */
  get(): Promise<Scraped> {
    this.#current ??= this.#look().finally(() => {
      this.#current = null
    })
    return this.#current
  }

  async #look(): Promise<Scraped> {
    // One at a time, however often it is scraped while the database does not answer.
    this.#ping ??= this.#store.ping().finally(() => {
      this.#ping = null
    })
    const [ping, totals] = await Promise.all([soon(this.#ping), this.#wantsTotals ? soon(this.#store.totals()) : null])
    const now = performance.now()
    if (totals) this.#last = { totals: totals.answer, at: now }
    const isUp = ping !== null
    const isKnown = isUp && this.#last !== null && now - this.#last.at < STALE_MS
    return {
      counts: this.#store.counts(),
      http: this.#http,
      isUp,
      totals: isKnown && this.#last !== null ? this.#last.totals : null,
      version: packageVersion(),
    }
  }
}

/** Null where it fails, or takes too long. */
function soon<T>(asked: Promise<T>): Promise<{ answer: T } | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS, null)
    const done = (outcome: { answer: T } | null) => {
      clearTimeout(timer)
      resolve(outcome)
    }
    asked.then(
      (answer) => done({ answer }),
      () => done(null),
    )
  })
}
