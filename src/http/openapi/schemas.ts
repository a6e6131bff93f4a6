/** The component schemas of the OpenAPI document. */

import type { NamedComponent } from '../../fields/answers'
import * as feed from '../../fields/answers-feeds'
import * as group from '../../fields/answers-groups'
import { OVERVIEW, TROUBLE } from '../../fields/answers-overview'
import { ACCESS, HEALTH, METRICS } from '../../fields/answers-process'
import * as queue from '../../fields/answers-queues'
import { QUEUE_RECEIVERS } from '../../fields/answers-receivers'
import { LISTED_SCHEDULE, SCHEDULE, SCHEDULE_PAGE } from '../../fields/answers-schedules'
import { CURSOR_SCHEMA } from '../../fields/feeds'
import { type DtoClass, ref, type Schema } from '../../fields/field'
import { VALUE_SCHEMAS } from '../../fields/rules'
import { type ClientErrorCode, ERRORS, type ErrorCode } from '../../shared/errors'
import { componentName, schemaOf } from '../dto/dto'
import * as feedDto from '../dto/feeds'
import * as groupDto from '../dto/groups'
import * as queueDto from '../dto/queues'
import { NewScheduleDto, ScheduleChangesDto } from '../dto/schedules'

const CLIENT_CODES: Readonly<Record<ClientErrorCode, true>> = { unreachable: true, unexpected_answer: true }

/** The codes that a server may answer. */
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

/** The bodies of requests, and answers. */
const components = (...all: readonly (DtoClass | NamedComponent)[]): Record<string, Schema> =>
  Object.fromEntries(
    all.map((each) =>
      typeof each === 'function' ? [componentName(each), schemaOf(each)] : [each.name, each.component],
    ),
  )

const ofGroups = components(
  ...[
    groupDto.NewItemDto,
    groupDto.NewGroupItemDto,
    groupDto.BatchDto,
    groupDto.ScoreChangeDto,
    group.ITEM,
    group.APPENDED,
    group.RECENT,
  ],
  ...[group.RECENT_MANY, group.GROUP_EVENTS, group.GROUP_REMOVED, group.GROUP_RESET, group.MEMBER_ITEMS],
  ...[groupDto.OwnSettingsDto, groupDto.GroupChangesDto, groupDto.PolicySettingsDto, groupDto.PolicyChangesDto],
  ...[group.GROUP, group.GROUP_PAGE, group.POLICY, group.POLICY_PAGE, group.LOSSES],
)
const ofQueues = components(
  ...[queueDto.QueueSettingsDto, queueDto.QueueChangesDto, queue.QUEUE, queue.QUEUE_STATUS, queueDto.NoFieldsDto],
  ...[queue.QUEUE_PAGE, queueDto.RedriveDto, queueDto.PromoteDto, queueDto.PurgeDto, queue.MOVED, queue.PROMOTED],
  ...[queueDto.HoldDto, queue.HELD],
  queue.DEAD_ERRORS,
  queue.QUEUE_HISTORY,
  QUEUE_RECEIVERS,
  ...[queueDto.NewMessageDto, queueDto.MessagesDto],
)
const ofMessages = components(
  ...[queue.SENT, queue.SENT_MANY, queue.SENT_ONE_OR_MANY, queueDto.ReceiveDto, queueDto.CycleDto, queue.MESSAGE],
  ...[queue.RECEIVED, queueDto.AckDto, queueDto.NackDto, queueDto.ExtendDto, queue.ACKED_RECEIPTS],
  ...[queue.NACKED_RECEIPTS, queue.EXTENDED_RECEIPTS, queue.PEEKED_MESSAGE, queue.WHOLE_MESSAGE],
  ...[queue.MESSAGE_PAGE],
)
const ofSchedules = components(NewScheduleDto, ScheduleChangesDto, SCHEDULE, LISTED_SCHEDULE, SCHEDULE_PAGE)
const ofFeeds = components(
  ...[feedDto.NewValueDto, feedDto.NewEntryDto, feedDto.NewEntriesDto, feed.PUT_ENTRIES, feed.ENTRY],
  ...[feedDto.RepublishDto, feed.REPUBLISHED, feed.CHANGES, feedDto.NewCursorDto, feed.CONSUMER, feed.FEED],
  feed.FEED_PAGE,
)

export const schemas: Readonly<Record<string, Schema>> = {
  ...VALUE_SCHEMAS,
  ...components(HEALTH, METRICS, group.DELETED, ACCESS, TROUBLE, OVERVIEW),
  ...ofGroups,
  ...ofQueues,
  Sending: { anyOf: [ref('NewMessage'), ref('Messages')] },
  ...ofMessages,
  ...ofSchedules,
  Cursor: CURSOR_SCHEMA,
  ...ofFeeds,
  Problem: PROBLEM,
}
