/** Checks of callers' arguments about schedules: every fault at once. */

import { addFaults, faultsOf, optional, refuse, rulesOf } from '../../fields/field'
import { FORM, nameFaults } from '../../fields/rules'
import { NEW_SCHEDULE_RULES, SCHEDULE_CHANGES_RULES, timingFaults } from '../../fields/schedules'
import type { MissedTicks, Timing } from '../../fields/ticks'
import type { Fault } from '../../shared/errors'
import type { ScheduleChanges, ScheduleDefinition, ScheduleOptions } from '../../shared/schedule-types'
import type { IfTag } from '../../shared/types'
import { rowOf } from '../queues/check'
import type { MessageToSend } from '../queues/rows'
import { ifTagOption } from '../settings'

export interface ScheduledSend {
  queue: string
  timing: Timing
  missed: MissedTicks
  /** Every message but for its tick. */
  message: MessageToSend
}

const OPTION_RULES = rulesOf({ bodies: optional(FORM) })
const PUT_OPTION_RULES = rulesOf({ bodies: optional(FORM), ...ifTagOption })

export function checkSchedule(name: unknown, options: ScheduleOptions = {}): void {
  refuse([...nameFaults('schedule', name), ...faultsOf(options, OPTION_RULES)])
}

export function checkChanges(name: unknown, changes: ScheduleChanges, options: IfTag & ScheduleOptions): void {
  refuse([
    ...nameFaults('schedule', name),
    ...faultsOf(changes, SCHEDULE_CHANGES_RULES),
    ...faultsOf(options, PUT_OPTION_RULES),
  ])
}

export function checkedDefinition(
  name: unknown,
  definition: ScheduleDefinition,
  options: IfTag & ScheduleOptions,
): ScheduledSend {
  const faults: Fault[] = [...nameFaults('schedule', name), ...faultsOf(options, PUT_OPTION_RULES)]
  addFaults(faults, definition, NEW_SCHEDULE_RULES, '')
  if (typeof definition === 'object' && definition !== null) {
    for (const fault of timingFaults(definition)) faults.push(fault)
  }
  refuse(faults)
  const { queue, cron = null, everySeconds = null, timeZone, missed = 'send-once' } = definition
  return { queue, timing: { cron, everySeconds, timeZone: timeZone ?? 'UTC' }, missed, message: rowOf(definition) }
}
