/** `recentn feeds`: shows feeds, what was published in them, and how far their consumers are; drops a feed. */
import type { Command } from 'commander'
import { MAX_BATCH } from '../fields/rules'
import { idNumber, wholeNumber } from './arguments'
import { confirm } from './confirm'
import {
  addListAndShow,
  atPlace,
  type CommandKit,
  found,
  goOn,
  notFound,
  operatorCommand,
  type PlaceFlags,
} from './store-or-server'

const FEED_COLUMNS = ['feed', 'lastSyncId', 'entries', 'unpublished', 'oldestUnpublishedSeconds', 'consumers.length']
const CHANGE_COLUMNS = ['syncId', 'key', 'version', 'deleted', 'value']

const DETAILS = `
The entries of a feed that follows a table are known to the processes that follow it: ask one of those, with --url.
`

export function addFeedsCommand(program: Command, kit: CommandKit): void {
  const feeds = program
    .command('feeds')
    .summary('show feeds and their consumers, and drop a feed')
    .description('Show feeds, what was published in them, and how far their consumers are. Drop a feed.')
    .addHelpText('after', DETAILS)
  addListAndShow(feeds, kit, {
    one: 'feed',
    summary: 'list feeds with what waits in them',
    columns: FEED_COLUMNS,
    page: ({ feeds }, range) => feeds.list(range),
    about: 'show a feed and what waits in it',
    get: ({ feeds }, feed) => feeds.status(feed),
  })
  operatorCommand(feeds, 'consumers <feed>', 'show the cursor and the lag of each consumer', kit).action(
    (feed: string, flags: PlaceFlags) =>
      atPlace(flags, kit, async ({ feeds }) => {
        const { consumers } = found(await feeds.status(feed), 'feed', feed)
        const columns = ['consumer', 'cursor', 'lag']
        return { json: { consumers }, show: { rows: 'consumers', columns, none: 'No consumer has stored a cursor.' } }
      }),
  )
  operatorCommand(feeds, 'changes <feed>', 'show published entries, in the order of their sync ids', kit)
    .option('--limit <n>', 'how many, 1 to 1000', wholeNumber(1, MAX_BATCH), 20)
    .option('--after <cursor>', 'only what was published after this', idNumber)
    .action((feed: string, { limit, after, ...flags }: PlaceFlags & { limit: number; after?: bigint }) =>
      atPlace(flags, kit, async ({ feeds }) => {
        const json = await feeds.changes(feed, { limit, after })
        const show = { rows: 'changes', columns: CHANGE_COLUMNS, none: 'There are no changes.' }
        return { json, show, note: goOn('after', json.hasMore ? json.cursor : null) }
      }),
    )
  operatorCommand(feeds, 'drop <feed>', 'drop a feed with its entries and its consumers', kit)
    .option('--yes', 'do not ask')
    .action((feed: string, { yes, ...flags }: PlaceFlags & { yes?: boolean }) =>
      atPlace(flags, kit, async ({ feeds, location }) => {
        if (!yes) {
          const { entries } = found(await feeds.status(feed), 'feed', feed)
          await confirm(`Drop the feed ${feed} with ${entries.toLocaleString('en')} entries in ${location}?`)
        }
        if (!(await feeds.drop(feed))) throw notFound('feed', feed)
        return { json: { dropped: true }, show: { sentence: `The feed ${feed} is dropped.` } }
      }),
    )
}
