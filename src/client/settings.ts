/** The calls on settings, which groups, policies, queues and schedules have in common: one class, because pages count bytes. */
import type { ErrorCode } from '../shared/error-codes'
import type { Policies, PolicySettings } from '../shared/group-types'
import type { RecentnError } from '../shared/recentn-error'
import type { Schedule, ScheduleChanges, ScheduleDefinition, Schedules } from '../shared/schedule-types'
import type { ListOptions, Losses } from '../shared/types'
import { decoded, type Headed } from './format'
import { policyLosses } from './operations'
import type { Operation } from './schemas'
import { type CallOptions, everyOf, type SettingsOptions, type Transport, type WithCall } from './transport'

/** The calls of the library on one kind of settings. */
interface Library {
  get(name: string): Promise<object | null>
  put(name: string, settings: never): Promise<object>
  update(name: string, changes: never): Promise<object>
  ensure(name: string, settings: never): Promise<object>
  list(options?: ListOptions): Promise<object>
}

/** An entry of a page of a list. */
type EntryOf<Page> = Extract<Page[keyof Page], readonly unknown[]>[number]

/** The options of the library's list. */
type OptionsOf<Calls extends Library> = Omit<NonNullable<Parameters<Calls['list']>[0]>, 'queuePrefix'>

/** How a kind is named in paths and answers. */
export interface SettingsNames {
  many: string
  absent: ErrorCode
}

/** `Calls` are the library's, and `Given` is the argument of its `put` and `ensure`. */
export class SettingsCalls<Calls extends Library, Given extends [settings?: object]> {
  readonly #kind: SettingsNames

  constructor(
    protected readonly transport: Transport,
    kind: SettingsNames,
  ) {
    this.#kind = kind
  }

  /** An operation on one: its method, as the document has it. */
  #at(method: string): Operation<object, { path: { name: string }; body?: object }> {
    return `${method} /v1/${this.#kind.many}/{name}` as Operation<object, { path: { name: string }; body?: object }>
  }

  /** Sends settings; with `ifTag` to those only that have this tag. */
  #send(method: string, name: string, body: object, options?: SettingsOptions, headers?: Headed['headers']) {
    return this.transport.call(this.#at(method), { path: { name }, body, headers }, options)
  }

  async #put(...given: [name: string, settings: object, options?: SettingsOptions, condition?: Headed['headers']]) {
    const { status, value } = await this.#send('PUT', ...given)
    return Object.assign(value, { created: status === 201 })
  }

  /** The settings, and for a queue its counts; null if it does not exist. */
  get(name: string, options?: CallOptions): ReturnType<Calls['get']> {
    const found = this.transport.valueOrNull(this.#at('GET'), { name }, this.#kind.absent, options)
    return found as ReturnType<Calls['get']>
  }

  /** Creates it, or replaces all of its settings. One that is left out gets its default; for a group it follows the policy. */
  put(name: string, ...[settings = {}, options]: [...Given, options?: SettingsOptions]): ReturnType<Calls['put']> {
    return this.#put(name, settings, options) as ReturnType<Calls['put']>
  }

  /** Changes the given settings and no others. With null a setting of a group follows the policy again. */
  update(
    name: string,
    changes: Parameters<Calls['update']>[1],
    options?: SettingsOptions,
  ): ReturnType<Calls['update']> {
    const changed = this.#send('PATCH', name, changes, options).then(({ value }) => value)
    return changed as ReturnType<Calls['update']>
  }

  /** Creates it with these settings, and leaves one that exists unchanged. */
  ensure(name: string, ...[settings = {}, options]: [...Given, options?: CallOptions]): ReturnType<Calls['ensure']> {
    const there = this.#put(name, settings, options, { 'If-None-Match': '*' }).catch((error: RecentnError | null) => {
      if (error?.code !== 'already_exists' || !error.cause) throw error
      return Object.assign(decoded(error.cause) as object, { created: false })
    })
    return there as ReturnType<Calls['ensure']>
  }

  /** Drops it, with all in it; false if there was none. Throws `queue_in_use`. */
  drop(name: string, options?: CallOptions): Promise<boolean> {
    return this.transport.wasThere(this.#at('DELETE'), { name }, this.#kind.absent, options)
  }

  /** A page, by name. */
  list(options?: WithCall<OptionsOf<Calls>>): ReturnType<Calls['list']> {
    const list = `GET /v1/${this.#kind.many}` as Operation<never>
    return this.transport.asked(list, null, options) as ReturnType<Calls['list']>
  }

  /** All by name, in pages of `limit`. */
  all(
    options: WithCall<OptionsOf<Calls>> = {} as WithCall<OptionsOf<Calls>>,
  ): AsyncGenerator<EntryOf<Awaited<ReturnType<Calls['list']>>>, void, undefined> {
    return everyOf((page) => this.list(page) as never, this.#kind.many, options)
  }
}

const POLICIES: SettingsNames = { many: 'policies', absent: 'policy_not_found' }

export class PolicyCalls extends SettingsCalls<Policies, [settings: PolicySettings]> {
  /** Counts what `put` would remove from all groups or, without settings, `drop`; changes nothing. */
  readonly losses: (prefix: string, settings?: PolicySettings, options?: CallOptions) => Promise<Losses>

  constructor(transport: Transport) {
    super(transport, POLICIES)
    this.losses = (prefix, settings, options) => {
      const parts = { path: { prefix }, body: settings ?? ({} as PolicySettings) }
      return transport.value(policyLosses, parts, { repeat: 'safe', ...options })
    }
  }
}

/** `Body` is the type that the caller says bodies have: nothing checks it. */
export interface ScheduleCalls
  extends Pick<SettingsCalls<Schedules, [settings: ScheduleDefinition]>, 'drop' | 'list' | 'all'> {
  /** Null if there is no such schedule. */
  get<Body = unknown>(schedule: string, options?: CallOptions): Promise<Schedule<Body> | null>
  /**
   * Creates the schedule, or replaces the one of this name. While `cron`, `everySeconds` and `timeZone` stay the same, its
   * next tick stays too. Throws `queue_not_found`.
   */
  put<Body = unknown>(
    schedule: string,
    definition: ScheduleDefinition<NoInfer<Body>>,
    options?: SettingsOptions,
  ): Promise<Schedule<Body> & { created: boolean }>
  /** Changes what is given and nothing more. Throws `schedule_not_found` and `queue_not_found`. */
  update<Body = unknown>(
    schedule: string,
    changes: ScheduleChanges<NoInfer<Body>>,
    options?: SettingsOptions,
  ): Promise<Schedule<Body>>
  /** Creates the schedule, and leaves a schedule that exists unchanged. */
  ensure<Body = unknown>(
    schedule: string,
    definition: ScheduleDefinition<NoInfer<Body>>,
    options?: CallOptions,
  ): Promise<Schedule<Body> & { created: boolean }>
}

export const SCHEDULES: SettingsNames = { many: 'schedules', absent: 'schedule_not_found' }
