/** Schedules: the methods of the library's `store.schedules`, without `tick`. */
import * as operations from './operations'
import type { SettingsCalls, SettingsNames } from './settings'
import type { CallOptions, SettingsOptions } from './transport'
import type Wire from './wire'
import type { ListedSchedule, NewSchedule, Schedule, ScheduleChanges, SchedulePage } from './wire'

export type ScheduleListOptions = Wire['listSchedules']['query'] & CallOptions

interface ScheduleKind {
  shown: Schedule
  stored: Schedule
  put: [definition: NewSchedule, options?: SettingsOptions]
  ensure: [definition: NewSchedule, options?: CallOptions]
  changes: ScheduleChanges
  listed: ListedSchedule
  page: SchedulePage
  range: ScheduleListOptions
}

/** `Body` is the type that the caller says bodies have: nothing checks it. */
export interface ScheduleCalls extends Pick<SettingsCalls<ScheduleKind>, 'drop' | 'list' | 'all'> {
  /** Null if there is no such schedule. */
  get<Body = unknown>(schedule: string, options?: CallOptions): Promise<Schedule<Body> | null>
  /**
   * Creates the schedule, or replaces the one of this name. While `cron`, `everySeconds` and `timeZone` stay the same, its
   * next tick stays too. Throws `queue_not_found`.
   */
  put<Body = unknown>(
    schedule: string,
    definition: NewSchedule<NoInfer<Body>>,
    options?: SettingsOptions,
  ): Promise<Schedule<Body> & { created: boolean }>
  /** Changes what is given and nothing more. Throws `schedule_not_found` and `queue_not_found`. */
  update<Body = unknown>(
    schedule: string,
    changes: ScheduleChanges<NoInfer<Body>>,
    options?: SettingsOptions,
  ): Promise<Schedule<Body>>
  /** Creates the schedule, and leaves a schedule that exists unchanged. */
  ensure<Body = unknown>(
    schedule: string,
    definition: NewSchedule<NoInfer<Body>>,
    options?: CallOptions,
  ): Promise<Schedule<Body> & { created: boolean }>
}

export const SCHEDULES: SettingsNames = {
  many: 'schedules',
  absent: 'schedule_not_found',
  shape: operations.scheduleShape,
}
