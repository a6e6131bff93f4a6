/** `recentn keys`: makes, lists and revokes API keys. A key is printed once, to standard output only. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { SCOPES } from '../fields/keys'
import type { Config } from '../http/process/config'
import { withoutSecretsIn } from '../http/secrets'
import { RecentnError } from '../shared/errors'
import type { Scope } from '../shared/key-types'
import { openStore } from '../store/open'
import type { Store, StoreKeys } from '../store/types'
import { jsonLine, printable } from './printed'
import { type CommandKit, type DatabaseFlags, described } from './verbs'

type ListedKey = Awaited<ReturnType<StoreKeys['list']>>['keys'][number]

interface KeysFlags extends DatabaseFlags {
  json?: boolean
}

interface CreateFlags extends KeysFlags {
  label: string
  scope: Scope[]
  prefix?: string
}

const DETAILS = `
A server without any key lets every caller in; so it listens on a loopback address only, and takes local requests only.
From the first key on, every request needs one, even after all have been revoked. A running server knows a new key within
some seconds. A client sends its key as "Authorization: Bearer rk_…".
`

const CREATE_DETAILS = `
Scopes: append (append and remove items), read (read groups, queues and schedules, and list feeds), queue (send, receive and
settle messages), feed (write and read feeds), admin (settings, policies, creating and deleting, and everything else).

The key is written to standard output, and is not shown again: only a hash of it is stored. With --prefix it can use and
see only groups, queues, schedules, feeds and policies whose names begin with the prefix.

Examples:
  recentn keys create --label "shop, web" --scope append --scope read --prefix shop:
  KEY=$(recentn keys create --label dashboard --scope read)
`

const REVOKE_DETAILS = `
Every process refuses the key within 5 seconds; its streams and waiting requests end. Exit code 3 if there is no such key.
`

export function addKeysCommand(program: Command, { databaseOption, configOf }: CommandKit): void {
  const keys = described(program, 'keys', 'make, list and revoke API keys').addHelpText('after', DETAILS)
  described(keys, 'create', 'make a key and print it, this once')
    .requiredOption('--label <text>', 'for people: who has the key, and what for')
    .addOption(
      new Option('--scope <scope>', `what it may do: ${SCOPES.join(', ')}; repeatable`)
        .argParser(oneMoreScope)
        .makeOptionMandatory(),
    )
    .option('--prefix <text>', 'confine it to names that begin with this')
    .addOption(databaseOption())
    .option('--json', 'print the key and what is stored of it as JSON')
    .addHelpText('after', CREATE_DETAILS)
    .action((flags: CreateFlags) => withStore(configOf(flags), true, (store) => create(store, flags)))
  described(keys, 'list', 'list the keys, the revoked ones too')
    .addOption(databaseOption())
    .option('--json', 'print them as JSON')
    .action((flags: KeysFlags) => withStore(configOf(flags), false, (store) => list(store, flags)))
  described(keys, 'revoke', 'revoke a key')
    .argument('<id>', 'as "recentn keys list" shows it: the part of the key between rk_ and the next _')
    .addOption(databaseOption())
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', REVOKE_DETAILS)
    .action((id: string, flags: KeysFlags) => withStore(configOf(flags), false, (store) => revoke(store, id, flags)))
}

/** `migrate` creates missing tables. */
export async function withStore(
  { databaseUrl: url, password, tablePrefix }: Config,
  migrate: boolean,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await openStore({ url, password, tablePrefix, migrate, sweep: false, publish: false, tick: false })
  try {
    await work(store)
  } finally {
    await store.close()
  }
}

async function create(store: Store, { label, scope: scopes, prefix, json }: CreateFlags): Promise<void> {
  const created = await store.keys.create({ label, scopes, prefix })
  process.stdout.write(json ? jsonLine(JSON.stringify(created)) : `${created.key}\n`)
  if (json) return
  const confined = prefix === undefined ? '' : `, names that begin with ${JSON.stringify(prefix)}`
  process.stderr.write(
    withoutSecretsIn(`The key ${created.id} (${created.scopes.join(', ')}${confined}) is in ${store.location}.\n`) +
      'Keep it now: it is not shown again.\n',
  )
}

async function list({ keys }: Store, { json }: KeysFlags): Promise<void> {
  const all: ListedKey[] = []
  for (let after: string | undefined; ; ) {
    const page = await keys.list({ after, limit: 1000 })
    for (const key of page.keys) all.push(key)
    if (page.nextAfter === null) break
    after = page.nextAfter
  }
  all.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
  if (json) process.stdout.write(jsonLine(JSON.stringify({ keys: all })))
  else process.stdout.write(all.length === 0 ? 'There are no keys.\n' : all.map(keyText).join(''))
}

/** A key in two lines. */
function keyText({ id, label, scopes, prefix, createdAt, lastUsedAt, revokedAt }: ListedKey): string {
  const confined = prefix === null ? 'all names' : `names that begin with ${JSON.stringify(prefix)}`
  const used = lastUsedAt === null ? 'never used' : `last used ${lastUsedAt.toISOString()}`
  const state = revokedAt === null ? used : `REVOKED ${revokedAt.toISOString()}, ${used}`
  const facts = `${scopes.join(', ')}; ${confined}; made ${createdAt.toISOString()}; ${state}`
  return `${id}  ${printable(label)}\n${' '.repeat(18)}${facts}\n`
}

async function revoke({ keys }: Store, id: string, { json }: KeysFlags): Promise<void> {
  if (!(await keys.revoke(id))) {
    throw new RecentnError('invalid_input', 'there is no key with this id ("recentn keys list" shows them)', {
      status: 404,
    })
  }
  process.stdout.write(json ? jsonLine(JSON.stringify({ id, revoked: true })) : `The key ${id} is revoked\n`)
}

function oneMoreScope(text: string, before: Scope[] | undefined): Scope[] {
  if (!SCOPES.includes(text as Scope)) throw new InvalidArgumentError(`It must be one of ${SCOPES.join(', ')}.`)
  return before?.includes(text as Scope) ? before : [...(before ?? []), text as Scope]
}
