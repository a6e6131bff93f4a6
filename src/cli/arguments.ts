/** How arguments and options of several commands are read. */
import { InvalidArgumentError } from 'commander'
import { integerFault } from '../fields/rules'
import { JsonText } from '../shared/json'

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const fault = integerFault(/^\d+$/.test(text) ? Number(text) : Number.NaN, min, max)
    if (fault !== null) throw new InvalidArgumentError(`It ${fault}.`)
    return Number(text)
  }
}

/** Any JSON value, whose numbers stay as they are written. */
export function jsonValue(text: string): JsonText {
  try {
    JSON.parse(text)
  } catch {
    throw new InvalidArgumentError('It must be JSON; a text is in double quotes.')
  }
  return new JsonText(text)
}

/** An id, or a cursor of a feed. */
export function idNumber(text: string): bigint {
  if (!/^\d{1,19}$/.test(text)) throw new InvalidArgumentError('It must be a number.')
  return BigInt(text)
}

/** Ids that are given one after the other. */
export function idList(text: string, before: bigint[] = []): bigint[] {
  return [...before, idNumber(text)]
}
