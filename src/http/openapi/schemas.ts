/** The component schemas of the OpenAPI document. */
import { type ClientErrorCode, ERRORS, type ErrorCode } from '../../errors'
import { SCOPES } from '../../fields/key-rules'
import { MAX_BATCH, MAX_CAPACITY, MAX_NAME_CODE_POINTS, MAX_TTL_SECONDS, MODES } from '../../fields/rules'
import { feedSchemas } from './feed-schemas'
import { messageSchemas } from './message-schemas'
import { queueSchemas } from './queue-schemas'
import { answer, anyJson, count, list, orNull, ref, request, type Schema } from './shapes'

const capacity = { type: 'integer', minimum: 1, maximum: MAX_CAPACITY }
const mode = { enum: [...MODES] }
const ttlSeconds = orNull({ type: 'integer', minimum: 1, maximum: MAX_TTL_SECONDS })

const newItem = {
  member: orNull(ref('Name')),
  payload: { description: 'Any JSON value of at most 64 KiB and 64 levels; stored and given back unchanged.' },
  occurredAt: orNull(ref('Time')),
  eventId: orNull(ref('Name')),
}

const recent = {
  group: ref('Name'),
  capacity,
  mode,
  total: { ...ref('Total') },
  items: list(ref('Item')),
}

const basics: Record<string, Schema> = {
  Name: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_NAME_CODE_POINTS,
    description:
      'Well-formed Unicode without control characters, neither "." nor "..". Two names are the same only when they are ' +
      'the same bytes.',
  },
  Id: { type: 'string', pattern: '^(0|[1-9][0-9]{0,18})$', description: 'From "0" to "9223372036854775807".' },
  Position: {
    type: 'string',
    pattern: '^(-1|0|[1-9][0-9]{0,18})$',
    description:
      'The id of the newest item that a listener knows of, which is `total` less one; "-1" where there was none.',
  },
  Total: {
    type: 'string',
    pattern: '^(0|[1-9][0-9]{0,18})$',
    description: 'How many appends there were, ever: from "0" to "9223372036854775808".',
  },
  Time: {
    type: 'string',
    format: 'date-time',
    description: 'RFC 3339, years 1970 to 9999; cut to milliseconds. Answers are in UTC.',
  },
  Health: answer({ status: { const: 'ok' } }),
  Metrics: { type: 'string', description: 'Text, as Prometheus reads it.' },
  Deleted: answer({ deleted: count }),
  Access: answer({ scopes: list({ enum: [...SCOPES] }), prefix: orNull({ type: 'string' }) }),
}

const items: Record<string, Schema> = {
  NewItem: request(newItem),
  NewGroupItem: request({ group: ref('Name'), ...newItem }, ['group']),
  Batch: request({ items: list(ref('NewGroupItem'), { minItems: 1, maxItems: MAX_BATCH }) }, ['items']),
  Item: answer({
    group: ref('Name'),
    id: ref('Id'),
    slot: { ...count, description: 'Its place in the ring: from 0 to capacity - 1.' },
    member: orNull(ref('Name')),
    payload: anyJson,
    occurredAt: orNull(ref('Time')),
    eventId: orNull(ref('Name')),
    createdAt: ref('Time'),
  }),
  Appended: answer({ items: list(answer({ group: ref('Name'), id: ref('Id'), slot: count })) }),
  Recent: answer({ ...recent, nextBefore: orNull(ref('Id')) }),
  RecentMany: answer({
    groups: list({
      ...answer(recent),
      properties: { ...recent, nextBefore: { ...ref('Id'), description: 'Only where the size of the answer cut it.' } },
    }),
  }),
  GroupEvents: {
    type: 'string',
    description: 'Events `item` (data `Item`), `removed` (data `GroupRemoved`) and `reset` (data `GroupReset`).',
  },
  GroupRemoved: answer({ id: ref('Id') }),
  GroupReset: answer({ group: ref('Name'), capacity, mode, total: ref('Total') }),
  MemberItems: answer({ items: list(ref('Item')), nextAfter: orNull({ type: 'string' }) }),
}

const ownSettings = { capacity: orNull(capacity), mode: orNull(mode), ttlSeconds }
const policySettings = { capacity, mode, ttlSeconds }

const settings: Record<string, Schema> = {
  OwnSettings: request(ownSettings),
  NewSettings: request({
    ...ownSettings,
    replaces: {
      ...orNull(ref('OwnSettings')),
      description:
        "The group's own settings as the caller knows them; null: there is no such group. Where they are others by now, " +
        'nothing is changed, and the answer is 409 `settings_changed`. Without it they are replaced whatever they are.',
    },
  }),
  PolicySettings: request(policySettings, ['capacity', 'mode']),
  NewPolicy: request(
    {
      ...policySettings,
      replaces: {
        ...orNull(ref('PolicySettings')),
        description:
          'The policy as the caller knows it; null: there is none. Where it is another one by now, nothing is changed, and ' +
          'the answer is 409 `settings_changed`. Without it the policy is replaced whatever it is.',
      },
    },
    ['capacity', 'mode'],
  ),
  Group: answer({
    group: ref('Name'),
    capacity,
    mode,
    ttlSeconds,
    own: {
      type: 'object',
      description: 'The settings that are its own, and only those: as PUT takes them.',
      properties: { capacity, mode, ttlSeconds },
    },
    policy: {
      ...orNull(ref('Name')),
      description:
        'The prefix of the policy that the settings that are not its own are of; null: none, they are the defaults.',
    },
    total: ref('Total'),
    createdAt: ref('Time'),
  }),
  GroupPage: answer({ groups: list(ref('Group')), nextAfter: orNull({ type: 'string' }) }),
  Policy: answer({ prefix: ref('Name'), capacity, mode, ttlSeconds }),
  PolicyPage: answer({ policies: list(ref('Policy')), nextAfter: orNull({ type: 'string' }) }),
}

const CLIENT_CODES: Readonly<Record<ClientErrorCode, true>> = { unreachable: true, unexpected_answer: true }

/** What a server may answer. */
export const SERVER_CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !Object.hasOwn(CLIENT_CODES, code))

const problem: Record<string, Schema> = {
  Problem: {
    type: 'object',
    description: 'Problem details, RFC 9457.',
    properties: {
      type: {
        type: 'string',
        format: 'uri-reference',
        description: 'The address of what the reference says of the code, relative to the request.',
      },
      title: { type: 'string' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: { type: 'string' },
      code: { enum: SERVER_CODES, description: 'A stable word for programs.' },
      errors: {
        type: 'array',
        description: 'Every fault of a refused input.',
        items: {
          type: 'object',
          properties: {
            pointer: { type: 'string', description: 'RFC 6901, into the body.' },
            parameter: { type: 'string', description: 'The name of a path or query parameter.' },
            detail: { type: 'string' },
          },
          required: ['detail'],
          oneOf: [{ required: ['pointer'] }, { required: ['parameter'] }],
        },
      },
    },
    required: ['type', 'title', 'status', 'detail', 'code'],
  },
}

export const schemas: Readonly<Record<string, Schema>> = {
  ...basics,
  ...items,
  ...settings,
  ...queueSchemas,
  ...messageSchemas,
  ...feedSchemas,
  ...problem,
}
