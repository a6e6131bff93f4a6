/** The operations on schedules: checks the arguments and runs each in a transaction. Owns recentn_schedules. */
import type { Session } from '../../database/engine'
import { checkedPage } from '../../fields/rules'
import { SCHEDULE_PAGE_RULES } from '../../fields/schedules'
import { RecentnError } from '../../shared/errors'
import type {
  ScheduleChanges,
  ScheduleDefinition,
  ScheduleListOptions,
  ScheduleOptions,
  Schedules,
} from '../../shared/schedule-types'
import type { IfTag } from '../../shared/types'
import type { QueueMemory } from '../queues/memory'
import { givenOf, warnOfOthers } from '../settings'
import { checkChanges, checkedDefinition, checkSchedule, type ScheduledSend } from './check'
import { definitionOf, type ScheduleRow, shownSchedule } from './rows'
import { changeSchedule, dropSchedule, listSchedules, readSchedule } from './schedules'

/** `memory` wakes what sends the ticks in this process. */
export function schedulesOn(session: Session, memory: QueueMemory): Schedules {
  const change = (name: string, options: IfTag, made: (before: ScheduleRow | null) => ScheduledSend) =>
    session.write((tx) => {
      memory.scheduleChanged(tx)
      return changeSchedule(tx, name, options, made)
    })
  const operations = {
    async get(name: string, options: ScheduleOptions = {}) {
      checkSchedule(name, options)
      const row = await session.read((reader) => readSchedule(reader, name))
      return row && shownSchedule(row, options.bodies)
    },
    async put(name: string, definition: ScheduleDefinition, options: IfTag & ScheduleOptions = {}) {
      const given = checkedDefinition(name, definition, options)
      const { row, created } = await change(name, options, () => given)
      return Object.assign(shownSchedule(row, options.bodies), { created })
    },
    async update(name: string, changes: ScheduleChanges, options: IfTag & ScheduleOptions = {}) {
      checkChanges(name, changes, options)
      const { row } = await change(name, options, (before) => {
        if (before === null) throw new RecentnError('schedule_not_found')
        return checkedDefinition(name, merged(before, changes), {})
      })
      return shownSchedule(row, options.bodies)
    },
    async ensure(name: string, definition: ScheduleDefinition, options: ScheduleOptions = {}) {
      const given = checkedDefinition(name, definition, options)
      // A plain read takes no lock. In a transaction it may show an old snapshot.
      const there = session.inTransaction ? null : await session.read((reader) => readSchedule(reader, name))
      const { row, created } =
        there === null ? await change(name, {}, (before) => before ?? given) : { row: there, created: false }
      warnOfOthers('schedule', name, definitionOf(row), definitionOf({ ...row, ...given }))
      return Object.assign(shownSchedule(row, options.bodies), { created })
    },
    async drop(name: string) {
      checkSchedule(name)
      return session.write((tx) => dropSchedule(tx, name))
    },
    async list(options: ScheduleListOptions = {}) {
      const range = checkedPage(options, SCHEDULE_PAGE_RULES)
      return session.read((reader) => listSchedules(reader, range))
    },
  }
  return operations as Schedules
}

/** Without `cron` the time zone that the schedule had goes, too. */
function merged(before: ScheduleRow, changes: ScheduleChanges): ScheduleDefinition {
  const given = givenOf(changes)
  const { timeZone, ...definition } = { ...definitionOf(before), ...given } as ScheduleDefinition
  return definition.cron === null && !('timeZone' in given) ? definition : { ...definition, timeZone }
}
