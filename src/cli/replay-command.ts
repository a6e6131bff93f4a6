/** The options of `recentn replay`, and what it prints. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Config } from '../config'
import { RecentnError } from '../errors'
import { MAX_BATCH, MAX_CAPACITY, MAX_TTL_SECONDS, MODES, type Mode } from '../fields/rules'
import { wholeNumber } from './arguments'
import { inputOf } from './lines'
import { GROUP_FIELDS, type Mapping, MEMBER_FIELDS, PAYLOAD_FIELDS, type PayloadField } from './mapping'
import { createProgress, jsonLine, type Progress } from './progress'
import { type ReplaySummary, replay } from './replay'
import { databaseTarget, type GroupSettings, type ReplayTarget, serverTarget } from './targets'

interface ReplayFlags {
  databaseUrl?: string
  url?: string
  group: Mapping['group']
  groupPrefix?: string
  member: Mapping['member']
  payload: readonly PayloadField[]
  capacity?: number
  mode?: Mode
  ttlSeconds?: number | null
  batch: number
  eventIds?: boolean
  strict?: boolean
  json?: boolean
}

const DETAILS = `
Reads Apache's and nginx' common and combined format; further fields after the user agent are ignored.
A file may be compressed with gzip, whatever its name. Without FILE, or where FILE is -, standard input is read.

Each request is appended to the group that its path names, without the query string:
  GET /products/42?ref=mail  ->  group "/products/42", member = client address,
  occurredAt = time of the request, payload = {"method", "status", "userAgent"}

A group that does not exist is created. With --capacity, --mode or --ttl-seconds each group gets exactly these own
settings before the first append to it in this run, in place of any that it had; a setting that is left out follows the
policies. Without any of the three, no settings are changed.

With --url, the API key is read from RECENTN_KEY. It needs the scope append, and with --capacity, --mode or
--ttl-seconds also admin.

Lines without a request, or without a valid name (1 to 191 characters, no control characters), are counted as bad and
reported on standard error, the first 20 one by one.

An interrupted run can be repeated as a whole, if both runs have --event-ids: items of the first run that are still there
are not appended again, and the last N are those of one whole run (the total counts items that were appended again). The
ids are made of the file's name, the number of the line and a digest of the line. Groups in mode distinct need none,
because each member is there once anyway. There the ids would hide that a member came again, so --mode distinct refuses
them.

Exit code: 0, even if some lines were bad; 1 if all were, if --strict stopped the run, or if the input, the database or
the server failed; 130 after Ctrl-C, which lets the batch in flight finish. The summary is printed in each case.

Examples:
  recentn replay access.log
  recentn replay --capacity 20 --mode distinct /var/log/nginx/access.log.2.gz /var/log/nginx/access.log.1
  zstd -dc access.log.zst | recentn replay --url http://127.0.0.1:3000 --group-prefix web: --event-ids
`

/** `configOf` reads the environment and `--database-url`. */
export function addReplayCommand(
  program: Command,
  databaseOption: () => Option,
  configOf: (flags: { databaseUrl?: string }) => Config,
): void {
  program
    .command('replay')
    .summary("append the requests of a web server's access log")
    .description("Append each request of a web server's access log to a group of recent items.")
    .argument('[FILE...]', 'access logs, read in this order')
    .addOption(databaseOption().conflicts('url'))
    // The first one is its older name.
    .option('--server, --url <url>', 'append through this running server, for example http://127.0.0.1:3000')
    .addOption(new Option('--group <field>', 'what names the group').choices(GROUP_FIELDS).default('path'))
    .option('--group-prefix <text>', 'put before the name of each group')
    .addOption(new Option('--member <field>', 'what names the member').choices(MEMBER_FIELDS).default('address'))
    .addOption(
      new Option('--payload <fields>', `what the payload holds: a list of ${PAYLOAD_FIELDS.join(',')}; or none`)
        .argParser(payloadFields)
        .default(['method', 'status', 'userAgent'], 'method,status,userAgent'),
    )
    .option('--capacity <n>', `give each group this own capacity, 1 to ${MAX_CAPACITY}`, wholeNumber(1, MAX_CAPACITY))
    .addOption(new Option('--mode <mode>', 'give each group this own mode').choices(MODES))
    .option('--ttl-seconds <n>', 'give each group this own expiry; "never" for none', ttlSeconds)
    .option('--batch <n>', `items of one commit, 1 to ${MAX_BATCH}`, wholeNumber(1, MAX_BATCH), 500)
    .option('--event-ids', 'give each item an event id, so that the replay can be repeated')
    .option('--strict', 'stop with exit code 1 at the first bad line, with nothing of its batch appended')
    .option('--json', 'print the summary as JSON')
    .addHelpText('after', DETAILS)
    .action(async (files: string[], flags: ReplayFlags) => {
      process.exitCode = await run(files.length > 0 ? files : ['-'], flags, () => configOf(flags))
    })
}

async function run(files: readonly string[], flags: ReplayFlags, config: () => Config): Promise<number> {
  checkTogether(flags)
  const inputs = []
  for (const file of files) inputs.push(await inputOf(file))
  const stop = stopSignal()
  const sizes = inputs.map((input) => input.size)
  const totalBytes = sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
  const progress = createProgress(totalBytes)
  const target = await openTarget(flags, config, stop.signal, progress)
  try {
    const summary = await replay(inputs, target, {
      mapping: mappingOf(flags),
      batch: flags.batch,
      settings: settingsOf(flags),
      strict: flags.strict === true,
      eventIds: flags.eventIds === true,
      signal: stop.signal,
      progress,
    })
    progress.stop()
    process.stdout.write(flags.json ? jsonLine(summary) : summaryText(summary, target))
    if (summary.error !== null) progress.note(`error: ${summary.error}`)
    return exitCode(summary)
  } finally {
    progress.stop()
    await target.close()
    stop.dispose()
  }
}

function checkTogether({ mode, member, eventIds }: ReplayFlags): void {
  if (mode !== 'distinct') return
  if (member === 'none') throw refused('--mode distinct needs a member, and --member none gives none')
  // Line 1 is appended again and goes to the front; line 3, found by its id, stays behind it: the order would be wrong.
  if (eventIds) throw refused('--mode distinct needs no --event-ids: a run can be repeated without them')
}

const refused = (detail: string) => new RecentnError('invalid_input', detail)

async function openTarget(
  flags: ReplayFlags,
  config: () => Config,
  signal: AbortSignal,
  progress: Progress,
): Promise<ReplayTarget> {
  if (flags.url === undefined) return databaseTarget(config())
  const repeatable = flags.eventIds === true || flags.mode === 'distinct'
  const key = process.env.RECENTN_KEY || undefined
  return serverTarget(flags.url, { signal, repeatable, key, onRetry: (text) => progress.note(text) })
}

function mappingOf(flags: ReplayFlags): Mapping {
  const { group, groupPrefix = '', member, payload } = flags
  return { group, groupPrefix, member, payload, memberRequired: flags.mode === 'distinct' }
}

function settingsOf({ capacity, mode, ttlSeconds }: ReplayFlags): GroupSettings | null {
  const settings: GroupSettings = {}
  if (capacity !== undefined) settings.capacity = capacity
  if (mode !== undefined) settings.mode = mode
  if (ttlSeconds !== undefined) settings.ttlSeconds = ttlSeconds
  return Object.keys(settings).length > 0 ? settings : null
}

/** The first SIGINT or SIGTERM aborts the signal; the second one ends the process at once. */
function stopSignal(): { signal: AbortSignal; dispose(): void } {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143)
    controller.abort()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  return { signal: controller.signal, dispose: () => process.off('SIGINT', onSignal).off('SIGTERM', onSignal) }
}

function summaryText(summary: ReplaySummary, target: ReplayTarget): string {
  const number = (value: number) => value.toLocaleString('en')
  const counted = (value: number, what: string) => `${number(value)} ${what}${value === 1 ? '' : 's'}`
  const parts = [
    counted(summary.lines, 'line'),
    `${number(summary.appended)} appended to ${counted(summary.groups, 'group')}`,
    ...(summary.alreadyThere > 0 ? [`${number(summary.alreadyThere)} already there`] : []),
    `${number(summary.badLines)} bad`,
    ...(summary.blankLines > 0 ? [`${number(summary.blankLines)} blank`] : []),
    `${summary.seconds.toFixed(1)} s`,
    `${number(summary.appendsPerSecond)} appends/s`,
  ]
  const ended = summary.interrupted ? 'Interrupted: ' : ''
  return `${ended}${parts.join(', ')}\nto ${target.location}\n`
}

function exitCode(summary: ReplaySummary): number {
  if (summary.error !== null) return 1
  if (summary.interrupted) return 130
  return summary.badLines > 0 && summary.appended + summary.alreadyThere === 0 ? 1 : 0
}

function ttlSeconds(text: string): number | null {
  return text === 'never' ? null : wholeNumber(1, MAX_TTL_SECONDS)(text)
}

function payloadFields(text: string): PayloadField[] {
  if (text === 'none') return []
  const fields = text.split(',').map((field) => field.trim())
  const unknown = fields.filter((field) => !PAYLOAD_FIELDS.includes(field as PayloadField))
  if (unknown.length > 0) {
    throw new InvalidArgumentError(`It must be "none" or a list of ${PAYLOAD_FIELDS.join(', ')}.`)
  }
  return fields as PayloadField[]
}
