/**
 * The JSON of results. `JSON.stringify` of a result gives what the REST route of the call answers (ids as strings, times
 * as RFC 3339), so that an app can send it on as it is. The fields keep their bigints and Dates.
 *
 * `toJSON` is not enumerable and sits on a prototype without a constructor of its own: results look, print and compare
 * (`toEqual`, also `toStrictEqual`) as plain objects. A copy by `{ ...result }` is one, and has no `toJSON`.
 */

/** Gives the results that a class makes their JSON: for those that are made by the thousand. */
export function giveJson<T extends object>(results: { readonly prototype: T }, json: (result: T) => unknown): void {
  definedOn(results.prototype, json)
  delete (results.prototype as { constructor?: unknown }).constructor
}

/** The same for results that are made as literals, one or a page at a time. Changes and returns its argument. */
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

/** What a renderer of text writes, as a value. */
export function parsedBy<T>(render: (result: T) => string): (result: T) => unknown {
  return (result) => JSON.parse(render(result))
}
