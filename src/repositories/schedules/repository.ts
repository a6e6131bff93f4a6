/** The operations on schedules: checks the arguments and runs each in a transaction. Owns recentn_schedules. */
import type { Session } from '../../database/engine'
import { checkedPage } from '../../fields/rules'
import { SCHEDULE_PAGE_RULES } from '../../fields/schedules'
import type { QueueMemory } from '../queues/memory'
import { checkedDefinition, checkSchedule } from './check'
import { dropSchedule, listSchedules, putSchedule, readSchedule } from './schedules'
import type { Schedule, ScheduleDefinition, Schedules } from './types'

/** `memory` wakes what sends the ticks in this process. */
export function schedulesOn(session: Session, memory: QueueMemory): Schedules {
  return {
    async schedule<Body>(name: string, definition: ScheduleDefinition<Body>) {
      const given = checkedDefinition(name, definition)
      return session.write((tx) => {
        memory.scheduleChanged(tx)
        return putSchedule(tx, name, given) as Promise<Schedule<Body> & { created: boolean }>
      })
    },
    async getSchedule<Body>(name: string, options: { bodies?: 'value' | 'text' | undefined } = {}) {
      checkSchedule(name, options)
      return session.read((reader) => readSchedule(reader, name, options.bodies) as Promise<Schedule<Body> | null>)
    },
    async schedules(options = {}) {
      const range = checkedPage(options, SCHEDULE_PAGE_RULES)
      return session.read((reader) => listSchedules(reader, range))
    },
    async unschedule(name) {
      checkSchedule(name)
      return session.write((tx) => dropSchedule(tx, name))
    },
  }
}
