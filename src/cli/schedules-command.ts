/** `recentn schedules`: shows schedules, and ends one. */
import type { Command } from 'commander'
import { addListAndShow, atPlace, type CommandKit, notFound, operatorCommand, type PlaceFlags } from './store-or-server'

const COLUMNS = ['schedule', 'queue', 'cron', 'everySeconds', 'timeZone', 'nextTickAt', 'lastTickAt', 'lastError']

export function addSchedulesCommand(program: Command, kit: CommandKit): void {
  const schedules = program
    .command('schedules')
    .summary('show schedules, or end one')
    .description('Show schedules, which send messages again and again, or end one.')
  addListAndShow(schedules, kit, {
    one: 'schedule',
    summary: 'list schedules with their next ticks',
    columns: COLUMNS,
    page: ({ schedules }, range) => schedules.list(range),
    about: 'show what a schedule sends and when',
    get: ({ schedules }, schedule) => schedules.get(schedule),
  })
  operatorCommand(schedules, 'end <schedule>', 'end a schedule; messages that it has sent stay', kit).action(
    (schedule: string, flags: PlaceFlags) =>
      atPlace(flags, kit, async ({ schedules }) => {
        if (!(await schedules.drop(schedule))) throw notFound('schedule', schedule)
        return { json: { schedule, ended: true }, show: { sentence: `The schedule ${schedule} has ended.` } }
      }),
  )
}
