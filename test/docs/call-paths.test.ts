/**
 * The files between a public call and its SQL are few. They are read off the stack where the statement is run, and off the
 * stack where the call was handed to a mechanism of `src/kit/`. And the reading lists of `docs/architecture.md` lead from the call to the
 * first statement: no file of the stack is missing, and imports lead from each file to the next.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { openStore, type Store } from '../../src/index'
import { GroupCommit } from '../../src/kit/group-commit'
import { MergedCalls } from '../../src/kit/merged-calls'
import { watch } from '../contract/statements'

const ROOT = join(__dirname, '..', '..')
const MOST_FILES = 4
const KIT = join('src', 'kit')

interface Path {
  call: string
  /** The statement that the call is about. */
  sql: RegExp
  /** Statements that may precede the one that the page names. */
  before?: RegExp
  prepare?(store: Store): Promise<unknown>
  run(store: Store): Promise<unknown>
}

let receipts: string[] = []

const PATHS: readonly Path[] = [
  { call: 'groups.append', sql: /REPLACE INTO recentn_items/, run: (store) => store.groups.append('g') },
  { call: 'groups.recent', sql: /SELECT .*recentn_items/s, run: (store) => store.groups.recent('g') },
  { call: 'queues.send', sql: /INSERT INTO recentn_queue_messages/, run: (store) => store.queues.send('q', 1) },
  {
    call: 'queues.receive',
    sql: /UPDATE recentn_queue_messages .*receipt/s,
    // Messages that are due become ready first, and a reminder of the claim is left.
    before: /^SELECT .*recentn_queues|recentn_reminders/s,
    prepare: (store) => store.queues.send('q', 2),
    run: (store) => store.queues.receive('q'),
  },
  {
    call: 'queues.ack',
    sql: /DELETE FROM recentn_queue_messages/,
    prepare: async (store) => {
      receipts = (await store.queues.receive('q')).map(({ receiptHandle }) => receiptHandle)
    },
    run: (store) => store.queues.ack('q', receipts[0] as string),
  },
  { call: 'feeds.put', sql: /INSERT INTO recentn_feed_entries/, run: (store) => store.feeds.put('f', 'k', 1) },
  {
    call: 'feeds.publish',
    sql: /^UPDATE recentn_feed_entries/,
    // Which feeds have entries without a number.
    before: /FROM recentn_feeds f/,
    run: (store) => store.feeds.publish(),
  },
  { call: 'feeds.changes', sql: /SELECT .*recentn_feed_entries/s, run: (store) => store.feeds.changes('f') },
  {
    call: 'poll',
    // It chooses and locks the rows, along the index.
    sql: /^SELECT .*jobs.*status.*LIMIT/s,
    // It looks at the table, and for rows that are to be tried again.
    before: /^SELECT|recentn_polls/,
    prepare: async (store) => {
      await store.dataSource.query('CREATE TABLE jobs (id INTEGER PRIMARY KEY, status VARCHAR(30) NOT NULL)')
      await store.dataSource.query('CREATE INDEX jobs_status ON jobs (status, id)')
      await store.dataSource.query("INSERT INTO jobs (status) VALUES ('ready')")
    },
    run: async (store) => {
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

/** The row of a reading list: the call, what its first statement begins with and ends with, the files. */
interface Listed {
  call: string
  begins: string
  table: string
  files: string[]
}

function listedIn(page: string): Listed[] {
  const rows = page.matchAll(/^\| `([a-z.]+)` \| `([A-Z ]+?)(?: …)?(?: FROM)? (recentn_\w+)` \| (.*`) \|$/gm)
  return [...rows].map(([, call = '', begins = '', table = '', files = '']) => {
    return { call, begins, table, files: files.split(' → ').map((file) => `src/${file.slice(1, -1)}`) }
  })
}

/** Whether the one file imports the other. */
function imports(file: string, other: string): boolean {
  const found = [...sourceOf(file).matchAll(/ from '(\.[^']*)'/g)]
  return found.some(([, path = '']) => `${join(dirname(file), path)}.ts` === other)
}

function sourceOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

/** Without what is below the file where the SQL is: how `database/` runs a statement. */
function toTheSql(files: string[]): string[] {
  return files.slice(0, files.findLastIndex((file) => file.startsWith(join('src', 'repositories'))) + 1)
}

describe('The files between a public call and its SQL', () => {
  let store: Store
  const found = new Map<string, string[]>()
  /** For each call: its first statement, and the files on the stacks up to it. */
  const first = new Map<string, { sql: string; files: string[] }>()

  beforeAll(async () => {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 100
    store = await openStore({ url: 'sqlite::memory:', publish: false, sweep: false, tick: false })
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
    note(MergedCalls, 'hand')
    const seen: { sql: string; files: string[] }[] = []
    watch(store, (sql, run) => {
      seen.push({ sql, files: filesOf(new Error().stack ?? '') })
      return run()
    })
    for (const { call, sql, before, prepare, run } of PATHS) {
      await prepare?.(store)
      handed.length = 0
      seen.length = 0
      await run(store)
      const statement = seen.find((one) => sql.test(one.sql))
      found.set(call, [...new Set([...handed, ...toTheSql(statement?.files ?? [])])])
      const begins = seen.find((one) => !/^(START|COMMIT)/.test(one.sql) && !before?.test(one.sql))
      first.set(call, { sql: begins?.sql ?? '', files: [...handed, ...toTheSql(begins?.files ?? [])] })
    }
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

  describe('as the architecture lists them', () => {
    const listed = listedIn(readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8'))

    it('have all calls', () => {
      expect(listed.map(({ call }) => call)).toEqual(PATHS.map(({ call }) => call))
    })

    it.each(listed.map((each): [string, Listed] => [each.call, each]))(
      'lead from %s to its first SQL',
      (call, list) => {
        const { sql, files } = first.get(call) ?? { sql: '', files: [] }
        expect(sql).toMatch(new RegExp(`^${list.begins}\\b[^]*\\b${list.table}\\b`))
        // Many calls pass the files of database/ and kit/, and the runners, which the page names once.
        const named = [join('src', 'database'), KIT, join('src', 'repositories', 'runners')]
        const passed = files.filter((file) => !named.some((place) => file.startsWith(place)))
        expect(list.files).toEqual(expect.arrayContaining(passed))
        expect(list.files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
        const camel = list.table
          .slice('recentn_'.length)
          .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
        expect(sourceOf(list.files.at(-1) ?? '')).toMatch(new RegExp(`tables\\.${camel}\\b`))
        const lost = list.files.filter((file, at) => {
          const earlier = list.files.slice(0, at)
          return at > 0 && !earlier.some((other) => imports(other, file))
        })
        expect(lost).toEqual([])
      },
    )
  })
})
