/**
 * JSON as recentn keeps it: text that goes in and comes out unchanged.
 *
 * `JSON.parse` rounds numbers to doubles, so a payload that only passes through is carried as its source text
 * (`JsonText`) and never parsed on the way back.
 */

/**
 * A JSON value as its text. Give one as a `payload` to store the text as it is, and ask for one
 * (`payloads: 'text'`) to pass it on without parsing. The maker vouches that the text is one well-formed
 * JSON value that `jsonFault` finds nothing wrong with; nothing checks it again.
 */
export class JsonText {
  constructor(readonly text: string) {}

  /** The value; numbers become doubles. */
  parse(): unknown {
    return JSON.parse(this.text)
  }

  toJSON(): unknown {
    return this.parse()
  }
}

export function jsonTextOf(value: unknown): string {
  return value instanceof JsonText ? value.text : JSON.stringify(value)
}

// biome-ignore lint/suspicious/noExplicitAny: any of them
type Unwritten = ReadonlyMap<any, any> | ReadonlySet<any>
// biome-ignore lint/suspicious/noExplicitAny: any of them
type AnyFunction = (...given: any[]) => unknown
/**
 * For the compiler: what a value must also be, `never` where JSON has no form for it. Anything for an unknown type. A bigint
 * within may be that of a result, which has a `toJSON` that its type does not show.
 */
export type AsJson<T> = unknown extends T
  ? unknown
  : T extends undefined | bigint | symbol | AnyFunction
    ? never
    : InJson<T>
type InJson<T> = unknown extends T
  ? unknown
  : T extends Unwritten
    ? never
    : T extends { toJSON(): unknown } | AnyFunction
      ? unknown
      : T extends object
        ? { [K in keyof T]: InJson<T[K]> }
        : unknown
