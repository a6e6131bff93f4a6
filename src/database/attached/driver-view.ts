/**
 * A library's object with other methods: how TypeORM gets a connection of a driver whose statements pass through ours. The
 * object itself is left as it is.
 */
import type { QueryRunner } from 'typeorm'

const targets = new WeakMap<object, object>()

/** The object with these methods in place of those it has. The others run on the object itself. */
export function viewOf<Target extends object>(target: Target, methods: Record<string, unknown>): Target {
  const view = new Proxy(target, {
    get(_, key) {
      if (typeof key === 'string' && Object.hasOwn(methods, key)) return methods[key]
      const value: unknown = Reflect.get(target, key)
      // mysql2's `promise` makes an object around what it is called on.
      return typeof value === 'function' && key !== 'promise' && key !== 'constructor' ? value.bind(target) : value
    },
  })
  targets.set(view, target)
  return view
}

/**
 * A query runner of TypeORM's with these methods. The runner's own calls of them, and its events, are of the view; what it notes
 * of its state is on the runner.
 */
export function runnerView<Runner extends QueryRunner>(runner: Runner, methods: Partial<Runner>): Runner {
  const own: Record<string, unknown> = { ...methods }
  const view = new Proxy(runner, {
    get: (_, key, receiver) =>
      typeof key === 'string' && Object.hasOwn(own, key) ? own[key] : Reflect.get(runner, key, receiver),
  })
  const { broadcaster } = runner as unknown as { broadcaster: object }
  own.broadcaster = new (broadcaster.constructor as new (of: QueryRunner) => unknown)(view)
  return view
}

/** The object behind a view; any other object as it is. */
export function behind<Target extends object>(view: Target): Target {
  return (targets.get(view) as Target | undefined) ?? view
}

type DriverCallback = (error: unknown, answer?: unknown, columns?: unknown) => void

/** The parameters of a driver's `query`, which come in several forms. Without a callback the answer is read as a stream. */
export function givenTo(given: readonly unknown[]): {
  sql: string
  values: unknown
  options: object | null
  done: DriverCallback | null
} {
  const [first, second] = given
  const last = given.at(-1)
  const options = typeof first === 'object' && first !== null ? (first as { sql: string; values?: unknown }) : null
  return {
    sql: options ? options.sql : String(first),
    values: typeof second === 'function' ? options?.values : (second ?? options?.values),
    options,
    done: typeof last === 'function' ? (last as DriverCallback) : null,
  }
}
