/** Decorators of the DTOs: the rules of `rules.ts`, made known to class-validator. */
import { registerDecorator } from 'class-validator'
import {
  integerFault,
  MAX_BATCH,
  MAX_CAPACITY,
  MAX_TTL_SECONDS,
  modeFault,
  nameFault,
  payloadFault,
  timeTextFault,
} from '../../rules'

type Rule = (value: unknown) => string | null

export interface RuleOptions {
  /** May be left out; null counts as left out. */
  optional?: boolean
}

/** The property must follow `rule`, and be there unless it is optional. */
export function Follows(name: string, rule: Rule, { optional = false }: RuleOptions = {}): PropertyDecorator {
  const faultOf = (value: unknown) => {
    if (value === undefined || value === null) return optional ? null : 'is required'
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

/** A list of 1 to 1,000; its elements are checked on their own. */
export const IsBatch = () =>
  Follows('isBatch', (value) =>
    Array.isArray(value) && value.length >= 1 && value.length <= MAX_BATCH
      ? null
      : `must be a list of 1 to ${MAX_BATCH}`,
  )
