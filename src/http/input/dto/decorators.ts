/** Decorators of the DTOs: the rules of `rules.ts`, made known to class-validator. */
import { registerDecorator } from 'class-validator'
import { cursorTextFault, keyPrefixFault } from '../../../fields/feed-rules'
import {
  bodyFault,
  delayFault,
  maxReceivesFault,
  NO_PAUSED,
  oneOfFault,
  priorityFault,
  visibilityFault,
} from '../../../fields/queue-rules'
import {
  integerFault,
  MAX_BATCH,
  MAX_CAPACITY,
  MAX_TTL_SECONDS,
  modeFault,
  nameFault,
  payloadFault,
  timeTextFault,
} from '../../../fields/rules'

type Rule = (value: unknown) => string | null

export interface RuleOptions {
  /** May be left out; null counts as left out, unless it is not `nullable`. */
  optional?: boolean
  /** False: null must follow the rule as any other value. */
  nullable?: boolean
}

/** The property must follow `rule`, and be there unless it is optional. */
export function Follows(
  name: string,
  rule: Rule,
  { optional = false, nullable = true }: RuleOptions = {},
): PropertyDecorator {
  const faultOf = (value: unknown) => {
    if (value === undefined || (value === null && nullable)) return optional ? null : 'is required'
    return rule(value)
  }
  return (target, propertyName) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: propertyName as string,
      validator: {
        validate: (value) => faultOf(value) === null,
        defaultMessage: (failed) => faultOf(failed?.value) ?? '',
      },
    })
}

export const IsName = (options?: RuleOptions) => Follows('isName', nameFault, options)
export const IsMode = (options?: RuleOptions) => Follows('isMode', modeFault, options)
export const IsTime = (options?: RuleOptions) => Follows('isTime', timeTextFault, options)
export const IsPayload = () => Follows('isPayload', payloadFault, { optional: true })
export const IsCapacity = (options?: RuleOptions) =>
  Follows('isCapacity', (value) => integerFault(value, 1, MAX_CAPACITY), options)
export const IsTtl = () => Follows('isTtl', (value) => integerFault(value, 1, MAX_TTL_SECONDS), { optional: true })
export const IsCursor = () => Follows('isCursor', cursorTextFault)
export const IsBody = () => Follows('isBody', bodyFault)
export const IsVisibility = (options: RuleOptions = { optional: true }) =>
  Follows('isVisibility', visibilityFault, options)
export const IsDelay = () => Follows('isDelay', delayFault, { optional: true })
export const IsMaxReceives = () => Follows('isMaxReceives', maxReceivesFault, { optional: true })
/** Known only to be refused with advice. */
export const IsNoSetting = () => Follows('isNoSetting', () => NO_PAUSED, { optional: true, nullable: false })
export const IsPriority = () => Follows('isPriority', priorityFault, { optional: true })
export const IsWhole = (min: number, max: number, options?: RuleOptions) =>
  Follows('isWhole', (value) => integerFault(value, min, max), options)
export const IsOneOf = (words: readonly string[], options?: RuleOptions) =>
  Follows('isOneOf', (value) => oneOfFault(value, words), options)
export const IsFlag = () =>
  Follows('isFlag', (value) => (typeof value === 'boolean' ? null : 'must be true or false'), { optional: true })
export const IsText = () =>
  Follows('isText', (value) => (typeof value === 'string' ? null : 'must be a string'), { optional: true })

/** The beginning of keys; empty is that of all. */
export const IsPrefix = () => Follows('isPrefix', keyPrefixFault, { optional: true })

/** A list of 1 to 1,000; its elements are checked on their own. */
export const IsBatch = (options?: RuleOptions) => Follows('isBatch', batchFault, options)

export function batchFault(value: unknown): string | null {
  const isBatch = Array.isArray(value) && value.length >= 1 && value.length <= MAX_BATCH
  return isBatch ? null : `must be a list of 1 to ${MAX_BATCH}`
}
