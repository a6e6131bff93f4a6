/** The calls on settings, which groups, policies, queues and schedules have in common: one class, because pages count bytes. */
import type { FieldShapes, Operation } from './format'
import { type CallOptions, everyOf, parted, type SettingsOptions, type Transport } from './transport'

/** The types of one kind of settings. */
export interface SettingsKind {
  /** What `get` and lists show, and what is answered to a change. */
  shown: object
  stored: object
  put: [settings?: object, options?: SettingsOptions]
  ensure: [settings?: object, options?: CallOptions]
  changes: object
  listed: object
  page: { nextAfter: string | null }
  range: object & CallOptions
}

/** How a kind is named in paths and answers, and which of its fields are ids and times. */
export interface SettingsNames {
  many: string
  absent: 'group_not_found' | 'policy_not_found' | 'queue_not_found' | 'schedule_not_found'
  shape?: FieldShapes
}

export class SettingsCalls<Kind extends SettingsKind> {
  readonly #transport: Transport
  readonly #kind: SettingsNames

  constructor(transport: Transport, kind: SettingsNames) {
    this.#transport = transport
    this.#kind = kind
  }

  /** An operation on one: its method, as the document has it. */
  #at(method: string): Operation<never> {
    const { many, shape } = this.#kind
    return { method, path: `/v1/${many}/{name}`, answer: shape } as Operation<never>
  }

  #parts(name: string, body?: object): never {
    return { path: { name }, body } as never
  }

  /** The settings, and for a queue its counts; null if it does not exist. */
  get(name: string, options?: CallOptions): Promise<Kind['shown'] | null> {
    return this.#transport.valueOrNull(this.#at('GET'), this.#parts(name), this.#kind.absent, options)
  }

  /** Creates it, or replaces all of its settings. One that is left out gets its default; for a group it follows the policy. */
  put(name: string, ...[settings = {}, options]: Kind['put']): Promise<Kind['stored'] & { created: boolean }> {
    return this.#transport.put(this.#at('PUT'), this.#parts(name, settings), options)
  }

  /** Changes the given settings and no others. With null a setting of a group follows the policy again. */
  async update(name: string, changes: Kind['changes'], options?: SettingsOptions): Promise<Kind['stored']> {
    return (await this.#transport.change(this.#at('PATCH'), this.#parts(name, changes), options)).value
  }

  /** Creates it with these settings, and leaves one that exists unchanged. */
  ensure(name: string, ...[settings = {}, options]: Kind['ensure']): Promise<Kind['stored'] & { created: boolean }> {
    return this.#transport.ensure(this.#at('PUT'), this.#parts(name, settings), options)
  }

  /** Drops it, with all in it; false if there was none. Throws `queue_in_use`. */
  drop(name: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(this.#at('DELETE'), this.#parts(name), this.#kind.absent, options)
  }

  /** A page, by name. */
  list(options: Kind['range'] = {}): Promise<Kind['page']> {
    const [query, call] = parted(options)
    const { many, shape } = this.#kind
    const list = { method: 'GET', path: `/v1/${many}`, ...(shape && { answer: { [many]: shape } }) }
    return this.#transport.value(list as Operation<never>, { query } as never, call)
  }

  /** All by name, in pages of `limit`. */
  all(options: Kind['range'] = {}): AsyncGenerator<Kind['listed'], void, undefined> {
    return everyOf((page) => this.list(page) as never, this.#kind.many, options)
  }
}
