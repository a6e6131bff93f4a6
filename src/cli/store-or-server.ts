/**
 * What the commands for operators work on: a database, through the store, or a running server, through the client. Both
 * have the same methods, so that a command is written once.
 */
import { type Command, Option } from 'commander'
import { createClient } from '../client'
import { MAX_BATCH } from '../fields/rules'
import type { Config } from '../http/process/config'
import { RecentnError } from '../shared/errors'
import type { Changes, ChangesOptions } from '../shared/feed-types'
import type { Recent, RecentOptions } from '../shared/group-types'
import type { JsonText } from '../shared/json'
import type { MessagePage, PeekOptions, SendOptions, Sent } from '../shared/queue-types'
import { openStore } from '../store/open'
import type { Store } from '../store/types'
import { wholeNumber } from './arguments'
import { type Printed, printedText } from './printed'
import { jsonLine, printable } from './terminal'

type Definition = Parameters<Store['schedules']['put']>[1]

export interface StoreOrServer {
  readonly queues: Pick<
    Store['queues'],
    'get' | 'list' | 'put' | 'update' | 'ensure' | 'drop' | 'pause' | 'resume' | 'redrive' | 'promote' | 'purge'
  > & {
    peek(queue: string, options?: PeekOptions<'value' | 'preview'>): Promise<MessagePage>
    message(queue: string, id: bigint): ReturnType<Store['queues']['message']>
    send(queue: string, body: JsonText, options: SendOptions): Promise<Sent>
  }
  readonly schedules: Pick<Store['schedules'], 'list' | 'drop'> & {
    get(schedule: string): ReturnType<Store['schedules']['get']>
    put(schedule: string, definition: Definition): ReturnType<Store['schedules']['put']>
    update(schedule: string, changes: Partial<Definition>): ReturnType<Store['schedules']['update']>
    ensure(schedule: string, definition: Definition): ReturnType<Store['schedules']['ensure']>
  }
  readonly policies: Store['policies']
  readonly groups: Pick<Store['groups'], 'get' | 'list' | 'put' | 'update' | 'ensure' | 'drop'> & {
    recent(group: string, options?: RecentOptions<'value'>): Promise<Recent>
  }
  readonly feeds: Pick<Store['feeds'], 'status' | 'list' | 'drop'> & {
    changes(feed: string, options?: ChangesOptions<'value'>): Promise<Changes>
  }
  /** For people: where the data is. */
  readonly location: string
  close(): Promise<void>
}

export interface PlaceFlags {
  databaseUrl?: string
  url?: string
  key?: string
  json?: boolean
}

/** What every command needs: the option `--database-url`, and the configuration with it. */
export interface CommandKit {
  databaseOption: () => Option
  configOf: (flags: { databaseUrl?: string }) => Config
}

/** Adds a command with its help: the summary, which begins in lower case, is its description too. */
export function described(parent: Command, spec: string, summary: string): Command {
  const description = `${summary[0]?.toUpperCase()}${summary.slice(1)}.`
  return parent.command(spec).summary(summary).description(description)
}

/** Adds a command with the options that say where it works. `spec` is its name and its arguments. */
export function operatorCommand(
  parent: Command,
  spec: string,
  summary: string,
  { databaseOption }: CommandKit,
): Command {
  return described(parent, spec, summary)
    .addOption(databaseOption())
    .addOption(
      new Option(
        '--url <url>',
        'a running server in place of a database: http://127.0.0.1:3000, or where the router of an app is',
      ).conflicts('databaseUrl'),
    )
    .option('--key <key>', 'an API key of that server (default: RECENTN_KEY, where other users do not see it)')
    .option('--json', 'print the answer as JSON, as the REST route of it does')
}

interface ListFlags extends PlaceFlags {
  prefix?: string
  after?: string
  limit: number
}

/** The commands that every kind of thing has: `list`, by name, and `show <one>`. */
export function addListAndShow(
  parent: Command,
  kit: CommandKit,
  { one, summary, columns, page, about, get }: Listed,
): void {
  const kind = `${one}s`
  operatorCommand(parent, 'list', summary, kit)
    .option('--prefix <text>', `only ${kind} whose names begin with this`)
    .option('--limit <n>', 'how many, 1 to 1000', wholeNumber(1, MAX_BATCH), 100)
    .option(`--after <${one}>`, 'go on after this one')
    .action(({ prefix, limit, after, ...flags }: ListFlags) =>
      atPlace(flags, kit, async (place) => {
        const json = await page(place, { prefix, limit, after })
        const show = { rows: kind, columns, none: `There are no ${kind}.` }
        return { json, show, note: goOn('after', json.nextAfter) }
      }),
    )
  operatorCommand(parent, `show <${one}>`, about, kit).action((name: string, flags: PlaceFlags) =>
    atPlace(flags, kit, async (place) => ({
      json: found(await get(place, name), one, name),
      show: 'facts',
    })),
  )
}

type Kind = 'group' | 'queue' | 'feed' | 'schedule'

interface Listed {
  one: Kind
  /** What `list` does, and the columns of its table. */
  summary: string
  columns: readonly string[]
  page(place: StoreOrServer, range: Omit<ListFlags, keyof PlaceFlags>): Promise<{ nextAfter: string | null }>
  /** What `show` does. */
  about: string
  get(place: StoreOrServer, name: string): Promise<unknown>
}

/** How to get the next page; undefined for the last one. */
export function goOn(option: string, cursor: unknown): string | undefined {
  return cursor === null ? undefined : `There are more: --${option} '${String(cursor).replaceAll("'", "'\\''")}'`
}

/** Runs the work, and prints what it answers. */
export async function atPlace(
  flags: PlaceFlags,
  { configOf }: CommandKit,
  work: (place: StoreOrServer) => Promise<Printed>,
): Promise<void> {
  if (flags.key !== undefined && flags.url === undefined) throw new RecentnError('invalid_input', '--key needs --url')
  const place = flags.url === undefined ? await atDatabase(configOf(flags)) : atServer(flags.url, flags.key)
  try {
    const printed = await work(place).catch((error: unknown) => {
      throw flags.url === undefined ? error : forPeople(error)
    })
    process.stdout.write(flags.json ? jsonLine(printed.json) : printedText(printed))
    if (!flags.json && printed.note !== undefined) process.stderr.write(`${printable(printed.note)}\n`)
  } finally {
    await place.close()
  }
}

async function atDatabase({ databaseUrl: url, tablePrefix, defaultCapacity }: Config): Promise<StoreOrServer> {
  return openStore({ url, tablePrefix, defaultCapacity, migrate: false, sweep: false, publish: false, tick: false })
}

/** The address of a server, with a slash at its end. Throws `invalid_input`. */
function serverBase(url: string): URL {
  const base = URL.canParse(url) ? new URL(url) : null
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password || base.search || base.hash) {
    const without = 'without a user, password, query or fragment'
    throw new RecentnError('invalid_input', `--url must be an address such as http://127.0.0.1:3000, ${without}`)
  }
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return base
}

function atServer(url: string, key = process.env.RECENTN_KEY || undefined): StoreOrServer {
  const client = createClient({ baseUrl: serverBase(url).href, key })
  return { ...client, location: url, close: async () => {} }
}

/** The error of a server: its text must not control the terminal, and it says what to do. */
function forPeople(error: unknown): unknown {
  if (!(error instanceof RecentnError)) return error
  const { status, message, requestId, cause } = error
  const code = error.code === 'internal' ? 'unexpected_answer' : error.code
  const hint = status === 401 ? ': give a key of that server by RECENTN_KEY or --key' : ''
  const named = code !== error.code && requestId !== undefined ? ` (request ${requestId})` : ''
  return new RecentnError(code, printable(message + named) + hint, { cause: (cause as Error | undefined)?.cause })
}

/** What was found. Throws for null: nothing of this kind has this name. */
export function found<T>(value: T | null, kind: Kind | 'message', name: string): T {
  if (value === null) throw notFound(kind, name)
  return value
}

export function notFound(kind: Kind | 'message', name: string): RecentnError {
  return new RecentnError(`${kind}_not_found`, `There is no ${kind} ${JSON.stringify(name)}`)
}
