/**
 * Schemas that a user gives for bodies and values: Standard Schema, version 1, which zod, valibot, arktype and others have.
 * The types are those of https://standardschema.dev, written down here as that page proposes, so that there is no dependency.
 */
import { UnrecoverableError } from './failures'
import { escaped, type Fault, invalidInput } from './recentn-error'

/** A Standard Schema, as zod, valibot, arktype and others make them. It may be asynchronous. */
export interface StandardSchema<Output = unknown, Input = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** The value as the schema gives it, or what is wrong with it. */
type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The fault of the option `schema`, or null. Schemas of some libraries are functions. */
export function schemaFault(value: unknown): string | null {
  const given = value as Partial<StandardSchema> | null | undefined
  return typeof given?.['~standard']?.validate === 'function' ? null : 'must be a Standard Schema'
}

/** Gives the message its body as the schema gives it; resolves to what is wrong with a body that does not fit. */
export async function misfit(schema: StandardSchema, message: { body: unknown }): Promise<string | null> {
  const result = await schema['~standard'].validate(message.body)
  if (result.issues) return told(result.issues, 'The body')
  message.body = result.value
  return null
}

/** `what` is the name of what does not fit. */
const told = (issues: readonly SchemaIssue[], what: string) =>
  `${what} does not fit the schema: ${issues.map(issueText).join('; ')}`

const keysOf = ({ path = [] }: SchemaIssue) => path.map((part) => String(typeof part === 'object' ? part.key : part))

function issueText(issue: SchemaIssue): string {
  const place = keysOf(issue).join('.')
  return place === '' ? issue.message : `${place}: ${issue.message}`
}

/** Throws `invalid_input` with the issues of all values that do not fit, as they will come out: as JSON. */
export async function refuseUnfit(
  schema: StandardSchema,
  values: readonly (readonly [pointer: string, value: unknown])[],
): Promise<void> {
  const faults: Fault[] = []
  for (const [at, value] of values) {
    const { issues = [] } = await schema['~standard'].validate(inJson(value))
    for (const issue of issues) {
      const keys = keysOf(issue).map((key) => `/${escaped(key)}`)
      faults.push({ pointer: at + keys.join(''), detail: issue.message })
    }
  }
  if (faults.length > 0) throw invalidInput(faults)
}

/** A value without a form in JSON stays as it is: the call refuses it. */
function inJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch {
    return value
  }
}

/** The handler of a worker, with the output of the schema in place of the body. */
export function parsing<Message extends { body: unknown }, Context>(
  schema: StandardSchema | undefined,
  handler: (message: Message, context: Context) => unknown,
): (message: Message, context: Context) => unknown {
  if (!schema) return handler
  return async (message, context) => {
    const error = await misfit(schema, message)
    if (error) throw new UnrecoverableError(error)
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
    const result = deleted ? { value } : await schema['~standard'].validate(value)
    if (result.issues) throw new UnrecoverableError(told(result.issues, `The value of ${JSON.stringify(key)}`))
    values.push(result.value)
  }
  for (const [at, change] of changes.entries()) change.value = values[at]
}
