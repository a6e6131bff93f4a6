/**
 * The JSON of results. `JSON.stringify` of a result returns the answer of the call's REST route (ids as strings, times
 * as RFC 3339), so that an app can send it unchanged. The fields of the result stay bigints and Dates.
 *
 * `toJSON` is not enumerable, and its prototype has no constructor of its own: results look, print and compare
 * (`toEqual`, also `toStrictEqual`) as plain objects. A copy by `{ ...result }` is a plain object without `toJSON`.
 */

/** Adds `toJSON` to the results of a class: for results that are made by the thousand. */
export function giveJson<T extends object>(results: { readonly prototype: T }, json: (result: T) => unknown): void {
  definedOn(results.prototype, json)
  delete (results.prototype as { constructor?: unknown }).constructor
}

/**
 * Adds `toJSON` to results that are object literals, made one or a page at a time. Changes and returns its argument.
 */
export function jsonBy<T extends object>(json: (result: T) => unknown): <R extends T>(result: R) => R {
  const prototype = definedOn(Object.create(Object.prototype) as T, json)
  return (result) => Object.setPrototypeOf(result, prototype)
}

function definedOn<T extends object>(prototype: T, json: (result: T) => unknown): T {
  const toJSON = function (this: T): unknown {
    return json(this)
  }
  return Object.defineProperty(prototype, 'toJSON', { value: toJSON, configurable: true, writable: true })
}

/** The text of a renderer as a value. */
export function parsedBy<T>(render: (result: T) => string): (result: T) => unknown {
  return (result) => JSON.parse(render(result))
}
