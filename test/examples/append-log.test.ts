/** The example that appends a log: to a server, a small log, and a real one whose groups are computed without its code. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { appendLog } from '../../examples/append-log'
import { createClient } from '../../src/client/index'
import { createApp } from '../../src/http/process/app'
import { openStore, type Store } from '../../src/index'
import { serve } from './support'

const REAL = join(__dirname, '../../../shared/data/access-log.gz')

let store: Store
let server: Awaited<ReturnType<typeof serve>>
let folder: string
let said: string[]

beforeEach(async () => {
  store = await openStore({ url: 'sqlite::memory:' })
  server = await serve(createApp(store, { allowAnonymous: true }))
  folder = mkdtempSync(join(tmpdir(), 'recentn-log-'))
  said = []
})
afterEach(async () => {
  server.close()
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const append = (...files: string[]) =>
  appendLog(createClient({ baseUrl: server.url }), files, (sentence) => said.push(sentence))

function logOf(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, name.endsWith('.gz') ? gzipSync(text) : text)
  return file
}

const line = (path: string, second: number, rest = ' "-" "Mozilla \\"5\\""') =>
  `192.0.2.7 - - [01/Jan/2024:00:00:0${second} +0000] "GET ${path} HTTP/1.1" 200 -${rest}\n`

test('lines of several files are appended in order, and once; what is refused is said', async () => {
  const files = [
    logOf('one.gz', `${line('/a?q=1', 1)}nonsense\n\n${line(`/${'x'.repeat(191)}`, 2)}${line('/b', 3)}`),
    logOf('two', line('/a', 4, '').trim()),
  ]
  expect(await append(...files)).toEqual({ lines: 5, appended: 3, groups: 2 })
  expect(said).toEqual([
    expect.stringContaining('one.gz: no line of an access log: "nonsense"'),
    expect.stringMatching(/^one\.gz:2:\S+ group must have at most 191 characters/),
  ])
  const { items } = await store.groups.recent('/a')
  expect(items).toMatchObject([
    { payload: { method: 'GET', status: 200, userAgent: null }, occurredAt: new Date('2024-01-01T00:00:04Z') },
    { member: '192.0.2.7', payload: { userAgent: 'Mozilla \\"5\\"' }, occurredAt: new Date('2024-01-01T00:00:01Z') },
  ])
  await append(...files)
  expect((await store.groups.recent('/a')).totalAppended).toBe(2n)
})

test('a file that is not there, and one that is no gzip, are errors', async () => {
  await expect(append(join(folder, 'none.gz'))).rejects.toThrow('ENOENT')
  writeFileSync(join(folder, 'bad.gz'), 'text')
  await expect(append(join(folder, 'bad.gz'))).rejects.toThrow('incorrect header check')
})

interface Expected {
  totalAppended: bigint
  /** Newest first. */
  items: { member: string | null; occurredAt: Date | null; payload: unknown }[]
}

/** By splitting at spaces and quotes, which is enough for this file: it has no escaped quote. */
function expectedGroups(isDistinct: boolean): Map<string, Expected> {
  const groups = new Map<string, Expected>()
  for (const line of gunzipSync(readFileSync(REAL)).toString('utf8').trimEnd().split('\n')) {
    const words = line.split(' ')
    const group = (words[6] as string).split('?')[0] as string
    if (group.length > 191) continue
    const [, day, month, year, time] = /\[(\d+)\/(\w+)\/(\d+):(\S+) \+0000\]/.exec(line) as unknown as string[]
    const agent = line.split('"')[5] as string
    const item = {
      member: words[0] as string,
      occurredAt: new Date(`${day} ${month} ${year} ${time} GMT`),
      payload: {
        method: (words[5] as string).slice(1),
        status: Number(words[8]),
        userAgent: agent === '-' ? null : agent,
      },
    }
    const found = groups.get(group) ?? { totalAppended: 0n, items: [] }
    const others = isDistinct ? found.items.filter((other) => other.member !== item.member) : found.items
    groups.set(group, { totalAppended: found.totalAppended + 1n, items: [item, ...others].slice(0, 10) })
  }
  return groups
}

async function storedGroups(): Promise<Map<string, Expected>> {
  const groups = new Map<string, Expected>()
  for (let after: string | undefined; ; ) {
    const page = await store.groups.list({ limit: 100, after })
    for (const { group, totalAppended, items } of await store.groups.recentMany(page.groups.map((one) => one.group))) {
      const plain = items.map(({ member, occurredAt, payload }) => ({ member, occurredAt, payload }))
      groups.set(group, { totalAppended, items: plain })
    }
    if (page.nextAfter === null) return groups
    after = page.nextAfter
  }
}

const sorted = (groups: Map<string, Expected>) => [...groups].sort(([a], [b]) => (a < b ? -1 : 1))

if (existsSync(REAL)) {
  test.each(['history', 'distinct'] as const)('the last 10 of every path of a real log, in mode %s', async (mode) => {
    await store.policies.put('/', { capacity: 10, mode })
    expect(await append(REAL)).toEqual({ lines: 7000, appended: 6999, groups: 1143 })
    expect(said).toEqual([expect.stringMatching(/^access-log\.gz:3029:\S+ group must have at most 191 characters/)])
    expect(sorted(await storedGroups())).toEqual(sorted(expectedGroups(mode === 'distinct')))
  })
} else {
  const missing = `NOT TESTED on a real access log: there is no file ${REAL}`
  process.stderr.write(`${missing}\n`)
  describe.skip(missing, () => {
    it('the last 10 of every path', () => {
      throw new Error(missing)
    })
  })
}
