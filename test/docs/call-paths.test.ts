/**
 * The files between a public call and its SQL, as `docs/architecture.md` lists them: read off the stack where the statement
 * is run, and off the stack where the call was handed to a mechanism of `src/kit/`.
 */
import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { openStore, type Store } from '../../src/index'
import { GroupCommit } from '../../src/kit/group-commit'
import { MergedCalls } from '../../src/kit/merged-calls'

const ROOT = join(__dirname, '..', '..')
const MOST_FILES = 4
const KIT = join('src', 'kit')

interface Path {
  call: string
  /** The statement that the call is about. */
  sql: RegExp
  run(store: Store): Promise<unknown>
}

const PATHS: readonly Path[] = [
  { call: 'groups.append', sql: /REPLACE INTO recentn_items/, run: (store) => store.groups.append('g') },
  { call: 'groups.recent', sql: /SELECT .*recentn_items/s, run: (store) => store.groups.recent('g') },
  { call: 'queues.send', sql: /INSERT INTO recentn_queue_messages/, run: (store) => store.queues.send('q', 1) },
  {
    call: 'queues.receive',
    sql: /UPDATE recentn_queue_messages .*receipt/s,
    run: async (store) => {
      await store.queues.send('q', 2)
      await store.queues.receive('q')
    },
  },
  {
    call: 'queues.ack',
    sql: /DELETE FROM recentn_queue_messages/,
    run: async (store) => {
      const [message] = await store.queues.receive('q')
      await store.queues.ack('q', message?.receiptHandle as string)
    },
  },
  { call: 'feeds.put', sql: /INSERT INTO recentn_feed_entries/, run: (store) => store.feeds.put('f', 'k', 1) },
  { call: 'feeds.changes', sql: /SELECT .*recentn_feed_entries/s, run: (store) => store.feeds.changes('f') },
  {
    call: 'poll',
    // It chooses and locks the rows, along the index.
    sql: /^SELECT .*jobs.*status.*LIMIT/s,
    run: async (store) => {
      await store.dataSource.query('CREATE TABLE jobs (id INTEGER PRIMARY KEY, status VARCHAR(30) NOT NULL)')
      await store.dataSource.query('CREATE INDEX jobs_status ON jobs (status, id)')
      await store.dataSource.query("INSERT INTO jobs (status) VALUES ('ready')")
      const poller = store.poll('jobs', async () => {}, {
        status: { column: 'status', ready: 'ready', done: 'done' },
        auto: false,
      })
      await poller.once()
      await poller.stop()
    },
  },
]

/** The files of `src/` on a stack, the outermost call first. */
function filesOf(stack: string): string[] {
  const files = [...stack.matchAll(/\(?(\/[^():]*\.ts):\d+:\d+/g)].map(([, file]) => relative(ROOT, file as string))
  return files.filter((file) => file.startsWith(`src${sep}`)).reverse()
}

/** Without what is below the file where the SQL is: how `database/` runs a statement. */
function toTheSql(files: string[]): string[] {
  return files.slice(0, files.findLastIndex((file) => file.startsWith(join('src', 'repositories'))) + 1)
}

describe('The files between a public call and its SQL', () => {
  let store: Store
  const found = new Map<string, string[]>()

  beforeAll(async () => {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 100
    store = await openStore({ url: 'sqlite::memory:', publish: false, sweep: false })
    await store.queues.put('q')
    await store.feeds.put('f', 'k', 0)
    await store.groups.append('g')
    const handed: string[] = []
    const note = (kit: { prototype: object }, method: string) => {
      const prototype = kit.prototype as Record<string, (...given: unknown[]) => unknown>
      const original = prototype[method] as (...given: unknown[]) => unknown
      return jest.spyOn(prototype, method).mockImplementation(function (this: unknown, ...given: unknown[]) {
        handed.push(...filesOf(new Error().stack ?? '').filter((file) => !file.startsWith(KIT)))
        return original.apply(this, given)
      })
    }
    note(GroupCommit, 'hand')
    note(MergedCalls, 'add')
    const runner = Object.getPrototypeOf(store.dataSource.createQueryRunner())
    const query = runner.query
    const seen: { sql: string; files: string[] }[] = []
    runner.query = function (this: unknown, sql: string, ...rest: unknown[]) {
      seen.push({ sql, files: filesOf(new Error().stack ?? '') })
      return query.call(this, sql, ...rest)
    }
    for (const { call, sql, run } of PATHS) {
      handed.length = 0
      seen.length = 0
      await run(store)
      const statement = seen.find((one) => sql.test(one.sql))
      found.set(call, [...new Set([...handed, ...toTheSql(statement?.files ?? [])])])
    }
    runner.query = query
    jest.restoreAllMocks()
    Error.stackTraceLimit = limit
  })

  afterAll(() => store.close())

  it.each(PATHS.map(({ call }) => call))('of %s are few', (call) => {
    const files = found.get(call) ?? []
    // A stack that was cut would look short.
    expect(files).toContain(join('src', 'database', 'transaction.ts'))
    expect(files.length).toBeLessThanOrEqual(MOST_FILES)
  })

  it('are those that the architecture lists', () => {
    const page = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8')
    const listed = page.split('\n').filter((line) => /^\| `(?:store\.)?[a-z.]+` \| `src\//.test(line))
    const derived = PATHS.map(({ call }) => {
      const files = (found.get(call) ?? []).map((file) => `\`${file.split(sep).join('/')}\``)
      return `| \`${call}\` | ${files.join(' → ')} |`
    })
    expect(listed).toEqual(derived)
  })
})
