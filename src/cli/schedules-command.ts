/** `recentn schedules`: shows schedules, and ends one. */
import type { Command } from 'commander'
import { RecentnError } from '../errors'
import { MAX_BATCH } from '../fields/rules'
import { wholeNumber } from './arguments'
import { goOn } from './queues-command'
import { atPlace, type CommandKit, found, operatorCommand, type PlaceFlags } from './store-or-server'

const COLUMNS = ['schedule', 'queue', 'cron', 'everySeconds', 'timeZone', 'nextTickAt', 'lastTickAt', 'lastError']

export function addSchedulesCommand(program: Command, kit: CommandKit): void {
  const schedules = program
    .command('schedules')
    .summary('show schedules, or end one')
    .description('Show schedules, which send messages again and again, or end one.')
  operatorCommand(schedules, 'list', 'list schedules with their next ticks', kit)
    .option('--prefix <text>', 'only schedules whose names begin with this')
    .option('--limit <n>', 'how many, 1 to 1000', wholeNumber(1, MAX_BATCH), 100)
    .option('--after <schedule>', 'go on after this one')
    .action(({ prefix, limit, after, ...flags }: PlaceFlags & { prefix?: string; limit: number; after?: string }) =>
      atPlace(flags, kit, async ({ queues }) => {
        const json = await queues.schedules({ prefix, limit, after })
        const show = { rows: 'schedules', columns: COLUMNS, none: 'There are no schedules.' }
        return { json, show, note: goOn('after', json.nextAfter) }
      }),
    )
  operatorCommand(schedules, 'show <schedule>', 'show what a schedule sends and when', kit).action(
    (schedule: string, flags: PlaceFlags) =>
      atPlace(flags, kit, async ({ queues }) => ({
        json: found(await queues.getSchedule(schedule), 'schedule_not_found'),
        show: 'facts',
      })),
  )
  operatorCommand(schedules, 'end <schedule>', 'end a schedule; messages that it has sent stay', kit).action(
    (schedule: string, flags: PlaceFlags) =>
      atPlace(flags, kit, async ({ queues }) => {
        if (!(await queues.unschedule(schedule))) throw new RecentnError('schedule_not_found')
        return { json: { schedule, ended: true }, show: { sentence: `The schedule ${schedule} has ended.` } }
      }),
  )
}
