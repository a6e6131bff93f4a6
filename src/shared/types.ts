/** Options and forms that several calls have in common. */
import type { JsonText } from './json'

export interface Page {
  /** Maximum number to return, 1 to 1,000; 100 when left out. */
  limit?: number | undefined
  /** The `nextAfter` of the page before. */
  after?: string | undefined
}

export interface ListOptions extends Page {
  /** Only those whose names begin with it. */
  prefix?: string | undefined
  /** Only those whose names have it in them, in either case: reads the names one by one. */
  contains?: string | undefined
}

export interface IfTag {
  /**
   * The `tag` of the settings that the caller has read; `'*'` is any. If they now have another one, or do not exist, nothing
   * changes, and the call throws `settings_changed`.
   */
  ifTag?: string | undefined
}

export interface Tagged {
  /** For `ifTag`: changes with the settings, and with nothing but them. */
  tag: string
}

export interface DryRun {
  /** True: nothing changes, and the call resolves to the number of messages that would be affected now. */
  dryRun?: boolean | undefined
}

/** The items that a change of settings would remove. */
export interface Losses {
  /** Number of groups that the settings are for. */
  groups: number
  /** How many of them would lose items, and how many items. */
  losingGroups: number
  items: number
  /** False where there is too much to count: then it is at most `losingGroups` and `items`. */
  isExact: boolean
}

/** How bodies and values are given: `'text'` is unparsed. */
export type Form = 'value' | 'text'

/** A body or a value in the form that was asked for. */
export type As<Value, Asked> = Asked extends 'text' ? JsonText : Asked extends 'preview' ? string : Value

/** A payload in the form that was asked for; one that was left out is null. */
export type PayloadAs<Payload, Asked> = Asked extends 'none'
  ? null
  : Asked extends 'text'
    ? JsonText | MaybeNull<Payload>
    : undefined extends Payload
      ? Exclude<Payload, undefined> | null
      : Payload
type MaybeNull<Payload> = undefined extends Payload ? null : null extends Payload ? null : never

/** All of them given. With exactOptionalPropertyTypes, `Required` would leave `undefined` in their types. */
export type AllGiven<T> = { [Name in keyof T]-?: Exclude<T[Name], undefined> }
