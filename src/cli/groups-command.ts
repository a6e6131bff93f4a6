/** `recentn groups`: shows groups of recent items. */
import type { Command } from 'commander'
import { MAX_BATCH, MAX_CAPACITY } from '../fields/rules'
import { idNumber, wholeNumber } from './arguments'
import { goOn } from './queues-command'
import { atPlace, type CommandKit, found, operatorCommand, type PlaceFlags } from './store-or-server'

const GROUP_COLUMNS = ['group', 'mode', 'capacity', 'ttlSeconds', 'policy', 'totalAppended', 'createdAt']
const ITEM_COLUMNS = ['id', 'member', 'createdAt', 'occurredAt', 'payload']

export function addGroupsCommand(program: Command, kit: CommandKit): void {
  const groups = program
    .command('groups')
    .summary('show groups of recent items')
    .description('Show groups of recent items.')
  operatorCommand(groups, 'list', 'list groups with their settings', kit)
    .option('--prefix <text>', 'only groups whose names begin with this')
    .option('--limit <n>', 'how many, 1 to 1000', wholeNumber(1, MAX_BATCH), 100)
    .option('--after <group>', 'go on after this one')
    .action(({ prefix, limit, after, ...flags }: PlaceFlags & { prefix?: string; limit: number; after?: string }) =>
      atPlace(flags, kit, async ({ groups }) => {
        const json = await groups.list({ prefix, limit, after })
        const show = { rows: 'groups', columns: GROUP_COLUMNS, none: 'There are no groups.' }
        return { json, show, note: goOn('after', json.nextAfter) }
      }),
    )
  operatorCommand(groups, 'show <group>', 'show the settings of a group', kit).action(
    (group: string, flags: PlaceFlags) =>
      atPlace(flags, kit, async ({ groups }) => ({
        json: found(await groups.get(group), 'group_not_found'),
        show: 'facts',
      })),
  )
  operatorCommand(groups, 'items <group>', 'show the items of a group, newest first', kit)
    .option('--limit <n>', 'how many, 1 to 10000', wholeNumber(1, MAX_CAPACITY), 20)
    .option('--before <id>', 'only items with a smaller id', idNumber)
    .action((group: string, { limit, before, ...flags }: PlaceFlags & { limit: number; before?: bigint }) =>
      atPlace(flags, kit, async ({ groups }) => {
        const json = await groups.recent(group, { limit, before })
        const show = { rows: 'items', columns: ITEM_COLUMNS, none: 'The group has no items.' }
        return { json, show, note: goOn('before', json.nextBefore) }
      }),
    )
}
