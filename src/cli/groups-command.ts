/** `recentn groups`: shows groups of recent items. */
import type { Command } from 'commander'
import { MAX_CAPACITY } from '../fields/rules'
import { idNumber, wholeNumber } from './arguments'
import {
  addListAndShow,
  atPlace,
  type CommandKit,
  described,
  goOn,
  operatorCommand,
  type PlaceFlags,
} from './store-or-server'

const GROUP_COLUMNS = [
  ...['group', 'mode', 'capacity', 'ttlSeconds', 'forgetEmptySeconds', 'policy', 'totalAppended', 'createdAt'],
]
const ITEM_COLUMNS = ['id', 'member', 'createdAt', 'occurredAt', 'payload']

export function addGroupsCommand(program: Command, kit: CommandKit): void {
  const groups = described(program, 'groups', 'show groups of recent items')
  addListAndShow(groups, kit, {
    one: 'group',
    summary: 'list groups with their settings',
    columns: GROUP_COLUMNS,
    page: ({ groups }, range) => groups.list(range),
    about: 'show the settings of a group',
    get: ({ groups }, group) => groups.get(group),
  })
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
