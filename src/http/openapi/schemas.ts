/** The component schemas of the OpenAPI document. */

import type { Schema } from '../../fields/field'
import { SCOPES } from '../../fields/keys'
import { VALUE_SCHEMAS } from '../../fields/rules'
import { type ClientErrorCode, ERRORS, type ErrorCode } from '../../shared/errors'
import { feedSchemas } from './feeds'
import { groupSchemas } from './groups'
import { queueSchemas } from './queues'
import { scheduleSchemas } from './schedules'
import { answer, count, list, textOrNull } from './shapes'

const CLIENT_CODES: Readonly<Record<ClientErrorCode, true>> = { unreachable: true, unexpected_answer: true }

/** What a server may answer. */
export const SERVER_CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !Object.hasOwn(CLIENT_CODES, code))

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

export const schemas: Readonly<Record<string, Schema>> = {
  ...VALUE_SCHEMAS,
  Health: {
    ...answer({ status: { const: 'ok' } }),
    properties: {
      status: { const: 'ok' },
      warning: {
        type: 'string',
        description: "Only in `readyz`, and only if this process's writes fail because the database's disk is full.",
      },
    },
  },
  Metrics: { type: 'string', description: 'The text format of Prometheus.' },
  Deleted: answer({ deleted: count }),
  Access: answer({ scopes: list({ enum: [...SCOPES] }), prefix: textOrNull }),
  ...groupSchemas,
  ...queueSchemas,
  ...scheduleSchemas,
  ...feedSchemas,
  Problem: PROBLEM,
}
