/**
 * `recentn groups`, `policies`, `queues`, `schedules` and `feeds`. A verb is an operation of REST. The parameters and the body
 * of its route are the arguments and options of the command, by their names, with their texts and their checks.
 */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type DtoMember, membersOf } from '../fields/dto'
import type { Schema } from '../fields/field'
import type { Config } from '../http/process/config'
import type { Route } from '../http/route'
import { storeRoutes } from '../http/router'
import { RecentnError } from '../shared/errors'
import { confirm } from './confirm'
import { NOUNS, OVERVIEW_VERB, type Verb } from './nouns'
import { type Asked, type Place, type PlaceFlags, placeOf } from './place'
import { factsText, jsonLine, printable, tableText } from './printed'

export interface DatabaseFlags {
  databaseUrl?: string
}

/** The parts that every command needs: the option `--database-url`, and the configuration with it. */
export interface CommandKit {
  databaseOption: () => Option
  configOf: (flags: DatabaseFlags) => Config
}

interface Flags extends PlaceFlags {
  json?: boolean
  yes?: boolean
  all?: boolean
  ifTag?: string
  ifVersion?: string
  dryRun?: string
  [parameter: string]: unknown
}

const DETAILS = `
The answer of "get" and of each change is that of the REST route. An option with an empty text is null: --max-receives ''
`

export function addNouns(root: Command, kit: CommandKit): void {
  addVerb(root, 'overview', OVERVIEW_VERB, kit)
  for (const [noun, { about, verbs }] of Object.entries(NOUNS)) {
    const command = described(root, noun, about).addHelpText('after', DETAILS)
    for (const [name, verb] of Object.entries(verbs)) addVerb(command, name, verb, kit)
  }
}

/** Adds a command with its help: the summary is its description too. */
export function described(parent: Command, spec: string, summary: string): Command {
  return parent
    .command(spec)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
}

function routeOf({ operation }: Verb): Route {
  const route = storeRoutes.find(({ id }) => id === operation)
  if (!route) throw new Error(`There is no operation ${operation}`)
  return route
}

function addVerb(noun: Command, name: string, verb: Verb, kit: CommandKit): void {
  const route = routeOf(verb)
  const { given = [], summary = route.summary } = verb
  const command = described(noun, name, `${summary[0]?.toLowerCase()}${summary.slice(1)}`)
  for (const [argument, { description }] of Object.entries(route.pathParameters))
    command.argument(`<${argument}>`, plain(description))
  const members = route.body?.dto === undefined ? [] : [...membersOf(route.body.dto)].filter(([, one]) => one.schema)
  const readers = new Map(members.map(([member, field]) => [member, jsonReader(field)]))
  for (const member of given) {
    const { field, isMany } = readers.get(member) as JsonReader
    command.argument(isMany ? `<${member}...>` : `<${member}>`, textOf(field), readers.get(member)?.read)
  }
  for (const [option, { description, repeatable, schema }] of Object.entries(route.queryParameters)) {
    const value = repeatable ? 'text...' : schema.type === 'integer' ? 'n' : 'text'
    command.option(`--${kebab(option)} <${value}>`, plain(description) + rangeOf(schema))
  }
  for (const [member, { field, isMany, isFlag, read }] of readers) {
    if (given.includes(member)) continue
    const { type } = field.field.schema
    const value = isFlag
      ? ''
      : isMany
        ? ' <text...>'
        : type === 'integer'
          ? ' <n>'
          : field.field.isJson
            ? ' <json>'
            : ' <text>'
    command.addOption(new Option(`--${kebab(member)}${value}`, textOf(field)).argParser(read))
  }
  if (hasPages(route)) command.addOption(new Option('--all', 'all pages').conflicts('limit'))
  if (takesTag(route, verb))
    command.option('--if-tag <tag>', 'change nothing if the settings have another tag; * is any')
  if (route.hasVersion && route.method !== 'get')
    command.option('--if-version <n>', 'write nothing if the entry has another version; 0: only if there is none')
  if (verb.asks) command.option('--yes', 'do not ask')
  addPlace(command, kit).action((...all: unknown[]) => {
    const [flags, texts] = [all.at(-2) as Flags, all.slice(0, -2)]
    const names = [...Object.keys(route.pathParameters), ...given]
    const values = { ...flags, ...Object.fromEntries(names.map((member, i) => [member, texts[i]])) }
    return run(verb, route, values, [...readers.keys()], kit)
  })
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const plain = (text: string) => text.replaceAll('`', '').replace(/\.$/, '')
const rangeOf = ({ enum: words, default: byDefault }: Schema) =>
  (Array.isArray(words) ? `: ${words.join(', ')}` : '') + (byDefault === undefined ? '' : ` (default: ${byDefault})`)
const textOf = ({ schema, field, isRequired }: DtoMember) =>
  plain(String(schema?.description ?? '')) + rangeOf(field.schema) + (isRequired ? ' (required)' : '')
const hasPages = ({ queryParameters: { after, before } }: Route) => (after ?? before) !== undefined
const takesTag = ({ hasSettings, method }: Route, { ensures }: Verb) =>
  hasSettings === true && (method === 'put' || method === 'patch') && !ensures

function addPlace(command: Command, { databaseOption }: CommandKit): Command {
  const where = 'a running server in place of a database: http://127.0.0.1:3000, or where the router of an app is'
  return command
    .addOption(databaseOption())
    .addOption(
      new Option('--url <url>', `${where} (default: RECENTN_URL; its API key is RECENTN_KEY)`).conflicts('databaseUrl'),
    )
    .option('--json', 'print the answer of the REST route')
}

interface JsonReader {
  field: DtoMember
  isMany: boolean
  isFlag: boolean
  /** The JSON text of a member, from the text of an argument, and what the arguments before have made. */
  read(text: string, before?: string): string
}

/** How the text of an option becomes JSON: the route judges it. */
function jsonReader(field: DtoMember): JsonReader {
  const { type } = field.field.schema
  const [isMany, isFlag] = [type === 'array', type === 'boolean']
  const isJson = field.field.isJson || type === 'object' || type === 'integer'
  return {
    field,
    isMany,
    isFlag,
    read(text, before) {
      if (isFlag) return 'true'
      if (isMany) return `${before === undefined ? '[' : `${before.slice(0, -1)},`}${JSON.stringify(text)}]`
      if (text === '' && field.null === 'kept') return 'null'
      return isJson ? jsonText(text) : JSON.stringify(text)
    },
  }
}

/** Any JSON value, whose numbers stay as they are written. */
function jsonText(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    throw new InvalidArgumentError('It must be JSON; a text is in double quotes.')
  }
  return text
}

/** Does the work of a verb, and prints the answer. `members`: those of the body. */
async function run(verb: Verb, route: Route, flags: Flags, members: readonly string[], kit: CommandKit): Promise<void> {
  const chosen = <T>(names: readonly string[]) =>
    Object.fromEntries(names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name] as T]])))
  const body = Object.entries(chosen<string>(members)).map(([name, json]) => `${JSON.stringify(name)}:${json}`)
  const asked: Asked = {
    path: chosen(Object.keys(route.pathParameters)),
    query: chosen(Object.keys(route.queryParameters)),
    body: route.body === undefined ? undefined : `{${body.join(',')}}`,
    headers: conditionsOf(verb, flags),
  }
  const place = await placeOf(flags, kit.configOf)
  try {
    if (verb.asks && !flags.yes && flags.dryRun === undefined) await confirmed(route, asked, place)
    if (hasPages(route)) await printPages(verb, route, asked, flags, place)
    else print(verb, await answerTo(verb, route, asked, place), flags)
  } finally {
    await place.close()
  }
}

function conditionsOf({ ensures }: Verb, { ifVersion, ifTag = ifVersion }: Flags): Record<string, string> {
  if (ensures) return { 'if-none-match': '*' }
  if (ifTag === undefined) return {}
  return { 'if-match': ifTag === '*' ? '*' : `"${encodeURI(ifTag)}"` }
}

/** Asks whether to delete. A purge is counted before. */
async function confirmed(route: Route, asked: Asked, place: Place): Promise<void> {
  const dry = { ...JSON.parse(asked.body ?? '{}'), dryRun: true }
  const counted = route.id === 'purgeQueue' ? await place.ask(route, { ...asked, body: JSON.stringify(dry) }) : null
  const count = counted === null ? '' : ` (${JSON.parse(counted).deleted} now)`
  const names = Object.values(asked.path).map((name) => JSON.stringify(name))
  await confirm(`${route.summary}${count}: ${names.join(', ')} in ${place.location}?`)
}

/** The answer; to `ensure`, what is there. */
async function answerTo(verb: Verb, route: Route, asked: Asked, place: Place): Promise<string> {
  try {
    return await place.ask(route, asked)
  } catch (error) {
    if (!(verb.ensures && error instanceof RecentnError && error.code === 'already_exists')) throw error
    return place.ask(routeOf({ operation: route.id.replace('put', 'get') }), { ...asked, body: undefined, headers: {} })
  }
}

async function printPages(verb: Verb, route: Route, asked: Asked, flags: Flags, place: Place): Promise<void> {
  const option = route.queryParameters.after === undefined ? 'before' : 'after'
  const most = route.queryParameters.limit?.schema.maximum
  const previews: Asked['query'] = route.id === 'peekMessages' && !flags.json ? { bodies: 'preview' } : {}
  let query: Asked['query'] = { ...previews, ...asked.query, ...(flags.all && { limit: String(most) }) }
  for (let isFirst = true; ; isFirst = false) {
    const text = await place.ask(route, { ...asked, query })
    print(verb, text, flags, isFirst)
    const { nextAfter, nextBefore, hasMore, cursor } = JSON.parse(text)
    const next: string | null = nextAfter ?? nextBefore ?? (hasMore ? cursor : null)
    if (next === null) return
    if (!flags.all) {
      const more = `There are more: --${option} '${next.replaceAll("'", "'\\''")}', or --all`
      if (!flags.json) process.stderr.write(`${printable(more)}\n`)
      return
    }
    query = { ...query, [option]: next }
  }
}

function print({ table }: Verb, text: string, { json }: Flags, isFirst = true): void {
  if (json) process.stdout.write(text === '' ? '' : jsonLine(text))
  else if (text === '') process.stdout.write('Done.\n')
  else if (table === undefined) process.stdout.write(factsText(text))
  else process.stdout.write(tableText(text, table[0], table.slice(1), isFirst))
}
