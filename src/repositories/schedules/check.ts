/** What callers give for schedules, checked: every fault at once. */
import type { Fault } from '../../errors'
import { addFaults, faultsOf, refuse } from '../../fields/field'
import { BODY_RULES } from '../../fields/queues'
import { nameFaults } from '../../fields/rules'
import { NEW_SCHEDULE_RULES, timingFaults } from '../../fields/schedules'
import type { MissedTicks, Timing } from '../../fields/ticks'
import { rowOf } from '../queues/check'
import type { MessageToSend } from '../queues/rows'
import type { ScheduleDefinition } from './types'

/** A checked definition: when to send what. */
export interface ScheduledSend {
  queue: string
  timing: Timing
  missed: MissedTicks
  /** Every message but for its tick. */
  message: MessageToSend
}

export function checkSchedule(name: unknown, options: unknown = {}): void {
  refuse([...nameFaults('schedule', name), ...faultsOf(options, BODY_RULES)])
}

export function checkedDefinition(name: unknown, definition: ScheduleDefinition): ScheduledSend {
  const faults: Fault[] = nameFaults('schedule', name)
  addFaults(faults, definition, NEW_SCHEDULE_RULES, '')
  if (typeof definition === 'object' && definition !== null) {
    for (const fault of timingFaults(definition)) faults.push(fault)
  }
  refuse(faults)
  const { queue, cron = null, everySeconds = null, timeZone, missed = 'send-once' } = definition
  return { queue, timing: { cron, everySeconds, timeZone: timeZone ?? 'UTC' }, missed, message: rowOf(definition) }
}
