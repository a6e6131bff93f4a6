/** The bodies of the routes of feeds. */
import { CURSOR, KEYS, selectionFaults, VERSION } from '../../fields/feeds'
import { Judged, list } from '../../fields/field'
import { defaulted, flag, MAX_BATCH, NAME, PREFIX, VALUE } from '../../fields/rules'
import type { JsonText } from '../../shared/json'
import { Checked, Component, Optional, object, Required } from './dto'

@Component('NewValue')
export class NewValueDto extends Judged {
  @Required(VALUE) value!: JsonText
}

@Component('NewEntry')
export class NewEntryDto extends Judged {
  @Required(NAME) key!: string
  @Required(VALUE) value!: JsonText

  @Optional(VERSION, 'The version that the entry must have, as it was read; 0: there must be none.')
  ifVersion?: number
}

@Component('NewEntries')
export class NewEntriesDto extends Judged {
  @Required(list(object(NewEntryDto), MAX_BATCH)) entries!: readonly NewEntryDto[]
}

const KEY_PREFIX: typeof PREFIX = {
  ...PREFIX,
  schema: { ...PREFIX.schema, description: 'The prefix of the keys; "" selects all of them.' },
}

@Component('Republish', 'Exactly one of the two.')
@Checked(selectionFaults)
export class RepublishDto extends Judged {
  @Optional(KEYS) keys?: readonly string[]
  @Optional(KEY_PREFIX) prefix?: string
}

@Component('NewCursor')
export class NewCursorDto extends Judged {
  @Required(CURSOR) cursor!: bigint
  @Optional(defaulted(flag(), false, 'Backwards too.')) force?: boolean

  @Optional(
    CURSOR,
    'The cursor that the finished page was read from. If the stored cursor was put back before it since then, it stays there.',
  )
  from?: bigint
}
