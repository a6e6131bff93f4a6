/** `recentn queues`: shows work queues and their messages, and acts on them. */
import { type Command, Option } from 'commander'
import { MAX_DELAY_SECONDS, MESSAGE_STATES } from '../fields/queues'
import { MAX_BATCH } from '../fields/rules'
import type { JsonText } from '../shared/json'
import { idList, idNumber, jsonValue, wholeNumber } from './arguments'
import { confirm } from './confirm'
import {
  addListAndShow,
  atPlace,
  type CommandKit,
  found,
  goOn,
  operatorCommand,
  type PlaceFlags,
} from './store-or-server'

const QUEUE_COLUMNS = [
  'queue',
  ...['ready', 'inFlight', 'delayed', 'blocked', 'dead', 'archived'].map((state) => `counts.${state}`),
  ...['oldestAgeSeconds', 'paused', 'isDeadLetterQueue'],
]
const MESSAGE_COLUMNS = ['id', 'receiveCount', 'sentAt', 'visibleAt', 'lastError', 'body']
const DEAD_COLUMNS = ['id', 'receiveCount', 'deadReceiveCount', 'sentAt', 'deadAt', 'lastError', 'body']

const DETAILS = `
Dead letters: where a queue has a dead-letter queue, its dead messages are in that one, ready. There "redrive" sends them
back to the queues that they came from, and "purge" deletes them. Dead messages of a queue without one stay in it:
  recentn queues peek mail --state dead
  recentn queues redrive mail
`

const PURGE_DETAILS = `
Deletes the ready, the blocked and the delayed messages: in a dead-letter queue, the dead letters. Asks first on a terminal;
without one it needs --yes. --dry-run only counts them.
`

interface PageFlags extends PlaceFlags {
  prefix?: string
  after?: string
  limit?: number
}

interface SendFlags extends PlaceFlags {
  delaySeconds?: number
  dedupId?: string
  messageGroup?: string
}

interface RedriveFlags extends PageFlags {
  id?: bigint[]
  dryRun?: boolean
}

export function addQueuesCommand(program: Command, kit: CommandKit): void {
  const queues = program
    .command('queues')
    .summary('show work queues, send to them, and redrive, pause, resume or purge them')
    .description('Show work queues and their messages, and act on them.')
    .addHelpText('after', DETAILS)
  addShowing(queues, kit)
  addSend(queues, kit)
  addActing(queues, kit)
}

function addShowing(queues: Command, kit: CommandKit): void {
  addListAndShow(queues, kit, {
    one: 'queue',
    summary: 'list queues with the number of messages in each state',
    columns: QUEUE_COLUMNS,
    page: ({ queues }, range) => queues.list(range),
    about: 'show the settings and the counts of a queue',
    get: ({ queues }, queue) => queues.get(queue),
  })
  operatorCommand(queues, 'peek <queue>', 'show messages without receiving them', kit)
    .addOption(new Option('--state <state>', 'messages in this state').choices(MESSAGE_STATES).default('ready'))
    .option('--limit <n>', 'how many, 1 to 1000', wholeNumber(1, MAX_BATCH), 20)
    .option('--after <cursor>', 'go on after this one')
    .action(
      (queue: string, { state, limit, after, ...flags }: PageFlags & { state: (typeof MESSAGE_STATES)[number] }) =>
        atPlace(flags, kit, async ({ queues }) => {
          const bodies = flags.json ? 'value' : 'preview'
          const json = await queues.peek(queue, { state, limit, after, bodies })
          const isDead = json.messages.some(({ deadAt }) => deadAt !== null)
          const columns = isDead ? DEAD_COLUMNS : MESSAGE_COLUMNS
          const show = { rows: 'messages', columns, none: `There are no ${state} messages.` }
          return { json, show, note: goOn('after', json.nextAfter) }
        }),
    )
  operatorCommand(queues, 'message <queue>', 'show one message, in whatever state', kit)
    .argument('<id>', 'the id of the message', idNumber)
    .action((queue: string, id: bigint, flags: PlaceFlags) =>
      atPlace(flags, kit, async ({ queues }) => ({
        json: found(await queues.message(queue, id), 'message', String(id)),
        show: 'facts',
      })),
    )
}

function addSend(queues: Command, kit: CommandKit): void {
  operatorCommand(queues, 'send <queue>', 'send a message', kit)
    .argument('<json>', 'its body', jsonValue)
    .option('--delay-seconds <n>', 'hand it out after this time', wholeNumber(0, MAX_DELAY_SECONDS))
    .option('--dedup-id <id>', 'send nothing if a message with it was sent in the last 5 minutes')
    .option('--message-group <group>', 'its group')
    .action((queue: string, body: JsonText, { delaySeconds, dedupId, messageGroup, ...flags }: SendFlags) =>
      atPlace(flags, kit, async ({ queues }) => {
        const json = await queues.send(queue, body, { delaySeconds, dedupId, messageGroup })
        return { json, show: { sentence: `The message ${json.id} was ${json.sent ? 'sent' : 'sent before'}.` } }
      }),
    )
}

function addActing(queues: Command, kit: CommandKit): void {
  for (const action of ['pause', 'resume'] as const) {
    const summary = { pause: 'stop handing out messages; sends go on', resume: 'end a pause' }[action]
    operatorCommand(queues, `${action} <queue>`, summary, kit).action((queue: string, flags: PlaceFlags) =>
      atPlace(flags, kit, async ({ queues }) => ({
        json: await queues[action](queue),
        show: { sentence: `The queue ${queue} is ${action === 'pause' ? 'paused' : 'not paused'}.` },
      })),
    )
  }
  operatorCommand(queues, 'redrive <queue>', 'send dead messages back to where they died', kit)
    .option('--id <id...>', 'only these messages', idList)
    .option('--limit <n>', 'at most this many', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option('--prefix <text>', 'only those that came from queues whose names begin with this')
    .option('--dry-run', 'only count them')
    .action((queue: string, { id: ids, limit, prefix, dryRun, ...flags }: RedriveFlags) =>
      atPlace(flags, kit, async ({ queues }) => {
        const json = await queues.redrive(queue, { ids, limit, prefix, dryRun })
        return { json, show: { sentence: `${messages(json.moved)} ${dryRun ? 'would be' : 'were'} sent back.` } }
      }),
    )
  operatorCommand(queues, 'promote <queue>', 'have delayed messages handed out now', kit)
    .argument('<id...>', 'the ids of the messages', idList)
    .action((queue: string, ids: bigint[], flags: PlaceFlags) =>
      atPlace(flags, kit, async ({ queues }) => {
        const json = await queues.promote(queue, ids)
        return { json, show: { sentence: `${messages(json.promoted)} ${json.promoted === 1 ? 'is' : 'are'} due now.` } }
      }),
    )
  operatorCommand(queues, 'purge <queue>', 'delete the messages that wait in a queue', kit)
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only count them')
    .addHelpText('after', PURGE_DETAILS)
    .action((queue: string, { yes, dryRun, ...flags }: PlaceFlags & { yes?: boolean; dryRun?: boolean }) =>
      atPlace(flags, kit, async ({ queues, location }) => {
        if (!yes && !dryRun) {
          const { deleted } = await queues.purge(queue, { dryRun: true })
          await confirm(`Delete ${messages(deleted)} of the queue ${queue} in ${location}?`)
        }
        const json = await queues.purge(queue, { dryRun })
        return { json, show: { sentence: `${messages(json.deleted)} ${dryRun ? 'would be' : 'were'} deleted.` } }
      }),
    )
}

const messages = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'message' : 'messages'}`
