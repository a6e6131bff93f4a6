/** The OpenAPI 3.1 document, made from the route tables. */
import { STATUS_CODES } from 'node:http'
import { ref } from '../../fields/field'
import { ERRORS, type ErrorCode } from '../../shared/errors'
import type { Parameters, RequestParameter } from '../input/parameters'
import { problemType } from '../output/problem'
import type { DocumentedAnswer, Operation, Route } from '../route'
import { schemas } from './schemas'

type Json = Record<string, unknown>

const DESCRIPTION =
  'The last N of everything: bounded recent activity per group, work queues, and feeds. Ids, totals and cursors are ' +
  'decimal strings, because they are 64 bits wide or more. Names in a path are percent-encoded. Every refusal is an RFC 9457 problem, whose `code` is stable.'

/** Codes that any route may answer; those of a body and of parameters are added where there are any. */
const COMMON: readonly ErrorCode[] = ['unauthorized', 'forbidden', 'overloaded', 'internal', 'database_unavailable']
/** Statuses whose problems have no code: of any route, and of one with a body. */
const BLANK: Readonly<Record<number, string>> = { 414: 'The path and the query are too long.' }
const BLANK_OF_BODIES: typeof BLANK = {
  408: 'The body did not arrive in time.',
  413: 'The body is over the limit.',
  415: 'The body must be application/json.',
}

export function openApiDocument(routes: readonly Route[], version: string, serverUrl: string): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = paths[route.path] ?? {}
    path[route.method] = operationObject(route)
    paths[route.path] = path
  }
  return {
    openapi: '3.1.0',
    info: { title: 'recentn', version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: serverUrl }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: { schemas: schemas(), securitySchemes: { key: BEARER } },
  }
}

function operationObject(route: Route): Json {
  const { body, scope } = route
  const description = [route.description, scope && `Needs the scope \`${scope}\`.`].filter(Boolean).join(' ')
  const parameters = [
    ...parameterObjects(route.pathParameters, 'path'),
    ...parameterObjects(route.queryParameters, 'query'),
    ...(route.conditional ? [IF_NONE_MATCH] : []),
    ...(route.hasSettings && route.method !== 'get' ? [IF_MATCH] : []),
    ...(route.hasSettings && route.method === 'put' ? [IF_NEW] : []),
    ...(route.hasVersion && route.method !== 'get' ? [IF_VERSION] : []),
    ...(route.hasVersion && route.method === 'put' ? [IF_NO_ENTRY] : []),
    ...(route.streams ? [LAST_EVENT_ID] : []),
  ]
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(description !== '' && { description }),
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !body.optional, content: contentOf(body.schema, body.example) } }),
    responses: { ...outcomeObjects(route), ...refusalObjects(route) },
  }
}

function securityOf({ scope, tellsAccess = false }: Route): Json[] {
  if (scope === null && !tellsAccess) return []
  return [{ key: scope === null ? [] : [scope] }, {}]
}

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key, `rk_…`, where the server wants one. It has scopes, of which `admin` includes all others. A prefix may ' +
    'confine it to groups, queues, schedules, feeds and policies whose names begin so. Lists then show no others, a request ' +
    'that names another one is answered with 403, and names of others in an answer are null.',
}

function header(name: string, description: string, schema: Json = { type: 'string' }): Json {
  return { name, in: 'header', description, schema }
}

const IF_NONE_MATCH = header('If-None-Match', 'The tags of answers that the client has.')

const IF_MATCH = header(
  'If-Match',
  'The `ETag` of the settings as they were read, or `*`. If they have another one now, or do not exist, nothing is ' +
    'changed, and the answer is 412 with the code `settings_changed`.',
)

const IF_VERSION = header(
  'If-Match',
  'The `ETag` of the entry as it was read, which is its version in quotes. If it has another version now, nothing is ' +
    'written, and the answer is 412 with the code `version_changed`.',
)

const IF_NO_ENTRY = header(
  'If-None-Match',
  'Only `*`: write the entry only if there is none; otherwise the answer is 412 with the code `version_changed`.',
  { const: '*' },
)

const IF_NEW = header(
  'If-None-Match',
  'Only `*`: create, and leave as it is what is there. Then the answer is 412 with the code `already_exists`, and with what ' +
    'is there in `existing`.',
  { const: '*' },
)

const LAST_EVENT_ID = header(
  'Last-Event-ID',
  'The id of the last event that the client received: the stream continues after it.',
  ref('Position'),
)

function parameterObjects(parameters: Parameters, place: 'path' | 'query'): Json[] {
  return Object.entries(parameters).map(([name, parameter]) => ({
    name,
    in: place,
    ...described(parameter),
    ...(parameter.repeatable && { style: 'form', explode: true }),
  }))
}

/**
 * An optional parameter without a default has its example in the schema. Viewers of the document fill in the `example` of a
 * parameter, and a cursor or filter that no caller asked for would hide items.
 */
function described({ description, required, schema, example }: RequestParameter<unknown>): Json {
  const isPrefilled = required || schema.default !== undefined
  return isPrefilled
    ? { description, required, schema, example }
    : { description, required, schema: { ...schema, examples: [example] } }
}

function contentOf(schema: string, value: unknown, type = 'application/json'): Json {
  return { [type]: { schema: ref(schema), example: value } }
}

const REQUEST_ID = {
  'X-Request-Id': {
    description: 'The id of the request: its own `X-Request-Id`, if that is valid, or a new one.',
    schema: { type: 'string' },
  },
}
const VERSION_ETAG = {
  ETag: { description: 'The version; none in a feed that follows a table.', schema: { type: 'string' } },
}
const ETAG = { ETag: { description: 'A strong tag of the answer.', required: true, schema: { type: 'string' } } }

function outcomeObjects({ outcomes, conditional, hasSettings, hasVersion }: Operation): Json {
  const headers = { ...REQUEST_ID, ...((conditional || hasSettings) && ETAG), ...(hasVersion && VERSION_ETAG) }
  const objects: Json = {}
  for (const [status, outcome] of Object.entries(outcomes)) objects[status] = outcomeObject(outcome, headers)
  if (conditional) objects['304'] = outcomeObject({ description: 'The client has this answer already.' }, headers)
  return objects
}

const LOCATION_TEXT = 'The path of what was created'

function locationOf(located: 'always' | 'for one'): Json {
  const isAlways = located === 'always'
  const description = `${LOCATION_TEXT}${isAlways ? '' : ', if it was one thing'}.`
  return { Location: { description, required: isAlways, schema: { type: 'string' } } }
}

function outcomeObject(answer: DocumentedAnswer, common: Json): Json {
  const { description, shape, type, located } = answer
  const headers = located === undefined ? common : { ...common, ...locationOf(located) }
  if (shape === undefined) return { description, headers }
  return { description, headers, content: contentOf(shape.name, answer.example ?? shape.example, type) }
}

/** One entry a status, naming the codes it may have. */
function refusalObjects(route: Route): Json {
  const codes: ErrorCode[] = ['invalid_input', ...COMMON, ...(route.refusals ?? [])]
  if (route.body) codes.push('malformed_json')
  if (route.hasSettings && route.method === 'put') codes.push('already_exists')
  if (route.hasSettings && route.method !== 'get') codes.push('settings_changed')
  if (route.hasVersion && route.method !== 'get') codes.push('version_changed')
  if (route.method !== 'get') codes.push('outcome_unknown', 'conflict')
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const { status } = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const objects: Json = {}
  for (const [status, ofStatus] of byStatus) objects[status] = refusalObject(status, ofStatus)
  for (const [status, detail] of Object.entries({ ...BLANK, ...(route.body && BLANK_OF_BODIES) })) {
    const value = {
      type: 'about:blank',
      title: STATUS_CODES[status],
      status: Number(status),
      detail: detail.slice(0, -1),
    }
    objects[status] = problemObject(detail, value, REQUEST_ID)
  }
  return objects
}

const REFUSED_INPUT = {
  type: '/docs/errors#invalid_input',
  title: 'The input is not valid',
  status: 400,
  detail: 'limit: must be a whole number from 1 to 10000',
  code: 'invalid_input',
  errors: [{ parameter: 'limit', detail: 'must be a whole number from 1 to 10000' }],
}

function refusalObject(status: number, codes: readonly ErrorCode[]): Json {
  const [code] = codes as [ErrorCode]
  const { title } = ERRORS[code]
  const value =
    code === 'invalid_input' ? REFUSED_INPUT : { type: problemType(code), title, status, detail: title, code }
  const retryAfter = {
    'Retry-After': {
      description: 'Seconds after which a retry makes sense.',
      required: true,
      schema: { type: 'integer' },
    },
  }
  const description = codes.map((each) => `\`${each}\`: ${ERRORS[each].title}.`).join(' ')
  return problemObject(description, value, { ...REQUEST_ID, ...((status === 429 || status === 503) && retryAfter) })
}

function problemObject(description: string, value: Json, headers: Json): Json {
  const schema = ref('Problem')
  return { description, headers, content: { 'application/problem+json': { schema, example: value } } }
}
