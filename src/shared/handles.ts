/**
 * Handles: the calls on one queue, group or feed, with its name bound and a type for what it holds. The store, a transaction
 * and the client make them. A handle has nothing but the name and a schema, and making one asks no database.
 */
import type { HandleOptions } from './handle-types'
import { invalidInput } from './recentn-error'
import { misfit, parseValues, refuseUnfit, type StandardSchema, schemaFault } from './schema'

export const QUEUE_CALLS =
  'get put ensure update drop pause resume hold send sendMany receive cycle ack nack extend ackMany nackMany extendMany peek message ' +
  'remove cancel redrive promote purge errors history receivers'
export const GROUP_CALLS = 'get put ensure update drop append recent recentIfChanged item changeScore clear remove'
export const FEED_CALLS = 'put putMany get delete republish changes cursor moveCursor dropCursor status drop'

// biome-ignore lint/suspicious/noExplicitAny: each call has its own types, which the interfaces of handles say
type AnyCalls = Record<string, any>

/** Binds the calls of these names to the name of a queue, group or feed. */
export function handleOf<Handle>(calls: AnyCalls, name: string, names: string): Handle {
  const bound = names.split(' ').map((each) => [each, (...rest: unknown[]) => calls[each](name, ...rest)])
  return { name, ...Object.fromEntries(bound) }
}

/** The name as a member of what is given, or of each entry of it: the handle fills it in, and refuses another. */
export function filled(given: unknown, member: string, name: string): unknown {
  if (Array.isArray(given)) return given.map((one) => filled(one, member, name))
  // Anything else stays as it is, for the call to refuse.
  if (typeof given !== 'object' || given === null) return given
  const { [member]: other = name } = given as AnyCalls
  if (other === name) return { ...given, [member]: name }
  throw invalidInput([{ pointer: `/${member}`, detail: 'comes from the handle' }])
}

/** `more` are the calls of one side alone. */
export function groupHandle<Handle>(calls: AnyCalls, name: string, more = ''): Handle {
  return {
    ...handleOf<object>(calls, name, GROUP_CALLS + more),
    appendMany: async (items: unknown, how: unknown) => calls.appendMany(filled(items, 'group', name), how),
  } as Handle
}

/** With a schema, bodies are checked where they are sent and given by it where they are received. */
export function queueHandle<Handle>(calls: AnyCalls, name: string, options?: HandleOptions, more = ''): Handle {
  const bound = handleOf<AnyCalls>(calls, name, QUEUE_CALLS + more)
  const { send, sendMany, receive, cycle, nackMany, work, workMany } = bound
  const fitting = (schema: StandardSchema, call: typeof receive) => async (how?: { bodies?: unknown }) => {
    const fit = []
    for (const message of await call(how)) {
      const error = how?.bodies === 'text' ? null : await misfit(schema, message)
      if (error) await nackMany([message], { dead: true, error })
      else fit.push(message)
    }
    return fit
  }
  return withSchema(bound, options, (schema) => ({
    send: checking(schema, send, (body) => [['/body', body]]),
    sendMany: checking(schema, sendMany, (messages) => members(messages, 'body')),
    receive: fitting(schema, receive),
    cycle: fitting(schema, cycle),
    work: schemed(schema, work),
    workMany: schemed(schema, workMany),
  }))
}

/** A worker whose options have no schema has the handle's. */
const schemed = (schema: StandardSchema, call?: AnyCalls[string]) =>
  call && ((handler: unknown, how?: HandleOptions) => call(handler, { ...how, schema: how?.schema ?? schema }))

/** With a schema, values are checked where they are put and given by it where they are read. */
export function feedHandle<Handle>(calls: AnyCalls, name: string, options?: HandleOptions, more = ''): Handle {
  const bound = handleOf<AnyCalls>(calls, name, FEED_CALLS + more)
  const { put, putMany, get, changes, consume } = bound
  return withSchema(bound, options, (schema) => {
    const schemaFor = (how?: HandleOptions & { values?: unknown }) =>
      how?.values === 'text' ? undefined : (how?.schema ?? schema)
    return {
      put: checking(schema, put, (_, value) => [['/value', value]]),
      putMany: checking(schema, putMany, (entries) => members(entries, 'value')),
      get: async (key: string, how?: object) => {
        const entry = await get(key, how)
        await parseValues(schemaFor(how), entry ? [entry] : [])
        return entry
      },
      changes: async (how?: object) => {
        const page = await changes(how)
        await parseValues(schemaFor(how), page.changes)
        return page
      },
      consume:
        consume &&
        ((consumer: string, handler: unknown, how?: object) =>
          consume(consumer, handler, { ...how, schema: schemaFor(how) })),
    }
  })
}

/** The handle, with the calls that a schema changes. Throws `invalid_input`. */
function withSchema<Handle>(
  bound: AnyCalls,
  options: HandleOptions = {},
  changed: (schema: StandardSchema) => AnyCalls,
): Handle {
  for (const [option, value] of Object.entries(options)) {
    const detail = option === 'schema' ? value && schemaFault(value) : 'is not an option'
    if (detail) throw invalidInput([{ pointer: `/${option}`, detail }])
  }
  return { ...bound, ...(options.schema && changed(options.schema)) } as Handle
}

type PointedValues = readonly (readonly [pointer: string, value: unknown])[]

function checking(schema: StandardSchema, call: AnyCalls[string], valuesOf: (...given: unknown[]) => PointedValues) {
  return async (...given: unknown[]) => {
    await refuseUnfit(schema, valuesOf(...given))
    return call(...given)
  }
}

/** The call refuses a value that is not a list, or not an object. */
function members(list: unknown, member: string): PointedValues {
  return Array.isArray(list) ? list.map((one, at) => [`/${at}/${member}`, one?.[member]]) : []
}
