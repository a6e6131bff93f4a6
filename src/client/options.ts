/** The options of a client, and their check. */
import { type Fault, invalidInput } from '../shared/recentn-error'

export interface ClientOptions {
  /**
   * Where the server is, or where its router is mounted: `https://recentn.example.org`. In a page also a path on the
   * server of the page, such as `/activity`; an empty string is its root.
   */
  baseUrl: string
  /** An API key (`rk_…`), or a function that returns it, called for each request. */
  key?: string | (() => string | Promise<string>) | undefined
  /** In place of the global `fetch`. */
  fetch?: typeof fetch | undefined
  /** How many times a call is attempted again where that is safe; 3 when left out. */
  retries?: number | undefined
  /** Seconds that an attempt may take, in addition to its `waitSeconds`; 30 when left out. */
  timeoutSeconds?: number | undefined
  /** Sent with each request. */
  headers?: Readonly<Record<string, string>> | undefined
}

export type OptionRule = (value: unknown) => string | null

const RULES: Readonly<Record<keyof ClientOptions, OptionRule>> = {
  baseUrl: baseFault,
  key: (value) => (isOneOf(value, 'string', 'function') ? null : 'must be a string or a function'),
  fetch: aFunction,
  retries: (value) => numberFault(value),
  timeoutSeconds: (value) => numberFault(value),
  headers: (value) => (isOneOf(value, 'object') && value !== null ? null : 'must be an object'),
}

/** Throws `invalid_input` with every fault. */
export function checkOptions(options: ClientOptions): void {
  const { baseUrl = null, ...others } = options ?? {}
  refuseFaults({ baseUrl, ...others }, RULES)
}

/** Throws `invalid_input` with the faults that there are, and those of the options. An option that has no rule is a mistake. */
export function refuseFaults(
  options: object,
  rules: Readonly<Record<string, OptionRule>>,
  faults: readonly Fault[] = [],
): void {
  const all = [...faults]
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : () => 'is not an option'
    const detail = value === undefined ? null : rule?.(value)
    if (detail) all.push({ pointer: `/${name}`, detail })
  }
  if (all.length > 0) throw invalidInput(all)
}

const isOneOf = (value: unknown, ...types: string[]) => types.includes(typeof value)

export function aFunction(value: unknown): string | null {
  return isOneOf(value, 'function') ? null : 'must be a function'
}

export function numberFault(value: unknown, max = Number.POSITIVE_INFINITY): string | null {
  return typeof value === 'number' && value >= 0 && value <= max ? null : `must be a number from 0 to ${max}`
}

function baseFault(value: unknown): string | null {
  const text = isOneOf(value, 'string') ? (value as string) : '?'
  const isPath = /^(?:$|\/(?!\/))/.test(text)
  try {
    const { protocol, username, password } = new URL(text, isPath ? 'http://here' : undefined)
    const isPlain = !username && !password && !/[?#]/.test(text)
    if (isPlain && /^https?:$/.test(protocol) && (!isPath || 'location' in globalThis)) return null
  } catch {}
  return 'must be an http(s) URL or a path, and no more'
}
