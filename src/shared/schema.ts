/**
 * Schemas that a user gives for bodies and values: Standard Schema, version 1, which zod, valibot, arktype and others have.
 * The types are those of https://standardschema.dev, written down here as that page proposes, so that there is no dependency.
 */
import { UnrecoverableError } from './failures'

/** What zod, valibot, arktype and others give: a Standard Schema. It may be asynchronous. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The value as the schema gives it, or what is wrong with it. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What is wrong with the option `schema`, or null. Schemas of some libraries are functions. */
export function schemaFault(value: unknown): string | null {
  const given = value as Partial<StandardSchema> | null | undefined
  return typeof given?.['~standard']?.validate === 'function'
    ? null
    : 'must be a Standard Schema (zod, valibot, arktype)'
}

/** The output of the schema. Throws an `UnrecoverableError` for a value that does not fit; `what` is the value's name in it. */
export async function parsed<Output>(schema: StandardSchema<Output>, value: unknown, what: string): Promise<Output> {
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return result.value
  throw new UnrecoverableError(`${what} does not fit the schema: ${result.issues.map(issueText).join('; ')}`)
}

function issueText({ message, path = [] }: SchemaIssue): string {
  const place = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
  return place === '' ? message : `${place}: ${message}`
}

/** The handler of a worker, with the output of the schema in place of the body. */
export function parsing<Message extends { body: unknown }, Context>(
  schema: StandardSchema | undefined,
  handler: (message: Message, context: Context) => unknown,
): (message: Message, context: Context) => unknown {
  if (!schema) return handler
  return async (message, context) => {
    message.body = await parsed(schema, message.body, 'The body')
    return handler(message, context)
  }
}

/**
 * Gives changes that are no deletions their values as the schema gives them. Throws for the first one that does not fit, and
 * leaves all as they are then.
 */
export async function parseValues(
  schema: StandardSchema | undefined,
  changes: readonly { key: string; value: unknown; deleted: boolean }[],
): Promise<void> {
  if (!schema) return
  const values: unknown[] = []
  for (const { key, value, deleted } of changes) {
    values.push(deleted ? value : await parsed(schema, value, `The value of ${JSON.stringify(key)}`))
  }
  for (const [at, change] of changes.entries()) change.value = values[at]
}
