/** The component schemas of the OpenAPI document. */

import type { NamedComponent } from '../../fields/answers'
import * as feeds from '../../fields/answers-feeds'
import * as groups from '../../fields/answers-groups'
import * as processes from '../../fields/answers-process'
import * as queues from '../../fields/answers-queues'
import * as receivers from '../../fields/answers-receivers'
import * as schedules from '../../fields/answers-schedules'
import { dtoSchemas } from '../../fields/dto'
import { CURSOR_SCHEMA } from '../../fields/feeds'
import { ref, type Schema } from '../../fields/field'
import { VALUE_SCHEMAS } from '../../fields/rules'
import { type ClientErrorCode, ERRORS, type ErrorCode } from '../../shared/errors'

const CLIENT_CODES: Readonly<Record<ClientErrorCode, true>> = { unreachable: true, unexpected_answer: true }

/** The codes that a server may answer. */
const SERVER_CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !Object.hasOwn(CLIENT_CODES, code))

const PROBLEM: Schema = {
  type: 'object',
  description: 'Problem details, RFC 9457.',
  properties: {
    type: {
      type: 'string',
      format: 'uri-reference',
      description:
        'The address of the code in the error reference, relative to the request; `about:blank` without a code.',
    },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    code: {
      enum: SERVER_CODES,
      description: 'A stable word for programs. Left out where the refusal only repeats its status.',
    },
    requestId: { type: 'string', description: 'The `X-Request-Id` of the answer, as the log of the server has it.' },
    errors: {
      type: 'array',
      description: 'Every fault of a refused input.',
      items: {
        type: 'object',
        properties: {
          pointer: { type: 'string', description: 'An RFC 6901 pointer into the body.' },
          parameter: { type: 'string', description: 'The name of a path or query parameter.' },
          detail: { type: 'string' },
        },
        required: ['detail'],
        oneOf: [{ required: ['pointer'] }, { required: ['parameter'] }],
      },
    },
    existing: { description: 'Only with `already_exists`: what is there, if the key may see it.' },
  },
  required: ['type', 'title', 'status', 'detail'],
}

const isNamed = (each: unknown): each is NamedComponent =>
  typeof each === 'object' && each !== null && 'component' in each && (each as NamedComponent).name !== ''

/** The values that fields have, the bodies of requests, and answers. */
export function schemas(): Record<string, Schema> {
  const answers = [processes, groups, queues, receivers, schedules, feeds].flatMap((all): unknown[] =>
    Object.values(all),
  )
  return {
    ...VALUE_SCHEMAS,
    Cursor: CURSOR_SCHEMA,
    ...dtoSchemas(),
    Sending: { anyOf: [ref('NewMessage'), ref('Messages')] },
    ...Object.fromEntries(answers.filter(isNamed).map(({ name, component }) => [name, component])),
    Problem: PROBLEM,
  }
}
