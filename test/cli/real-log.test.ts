/** A real access log, and what of it must be left, computed without any of the code that is tested. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { inputOf } from '../../src/cli/lines'
import type { Mapping } from '../../src/cli/mapping'
import { createProgress } from '../../src/cli/progress'
import { type ReplaySummary, replay } from '../../src/cli/replay'
import { databaseTarget } from '../../src/cli/targets'
import { openStore } from '../../src/store/open'
import type { Store } from '../../src/store/types'
import { describeEngine, ENGINES, freshDatabase } from '../support/engines'
import { startServer } from '../support/processes'
import { run } from './support'

const FILE = path.join(__dirname, '../../../shared/data/access-log.gz')
const MODES = ['history', 'distinct'] as const

interface Expected {
  totalAppended: number
  /** Newest first. */
  items: { member: string; occurredAt: string; payload: unknown }[]
}

/** By splitting at spaces and quotes, which is enough for this file: it has no escaped quote. */
function expectedGroups(mode: (typeof MODES)[number]): Map<string, Expected> {
  const groups = new Map<string, Expected>()
  for (const line of gunzipSync(readFileSync(FILE)).toString('utf8').trimEnd().split('\n')) {
    const words = line.split(' ')
    const quoted = line.split('"')
    const group = (words[6] as string).split('?')[0] as string
    if (group.length > 191) continue
    const [, day, month, year, time] = /\[(\d+)\/(\w+)\/(\d+):(\S+) \+0000\]/.exec(line) as unknown as string[]
    const agent = quoted[5] as string
    const item = {
      member: words[0] as string,
      occurredAt: new Date(`${day} ${month} ${year} ${time} GMT`).toISOString(),
      payload: {
        method: (words[5] as string).slice(1),
        status: Number(words[8]),
        userAgent: agent === '-' ? null : agent,
      },
    }
    const found = groups.get(group) ?? { totalAppended: 0, items: [] }
    const others = mode === 'distinct' ? found.items.filter((other) => other.member !== item.member) : found.items
    groups.set(group, { totalAppended: found.totalAppended + 1, items: [item, ...others].slice(0, 10) })
  }
  return groups
}

async function storedGroups(store: Store): Promise<Map<string, Expected>> {
  const groups = new Map<string, Expected>()
  for (let after: string | undefined; ; ) {
    const page = await store.groups.list({ limit: 100, after })
    for (const { group, totalAppended, items } of await store.groups.recentMany(page.groups.map((one) => one.group))) {
      const plain = items.map(({ member, occurredAt, payload }) => ({
        member: member as string,
        occurredAt: occurredAt?.toISOString() as string,
        payload,
      }))
      groups.set(group, { totalAppended: Number(totalAppended), items: plain })
    }
    if (page.nextAfter === null) return groups
    after = page.nextAfter
  }
}

interface Served {
  groups: { group: string; totalAppended: string; items: (Expected['items'][number] & Record<string, unknown>)[] }[]
  nextAfter: string | null
}

async function servedGroups(url: string): Promise<Map<string, Expected>> {
  const get = async (path: string, query: [string, string][]): Promise<Served> => {
    const response = await fetch(`${url}${path}?${new URLSearchParams(query)}`)
    expect(response.status).toBe(200)
    return (await response.json()) as Served
  }
  const groups = new Map<string, Expected>()
  for (let after: [string, string][] = []; ; ) {
    const page = await get('/v1/groups', [['limit', '100'], ...after])
    const names = page.groups.map(({ group }) => ['group', group] as [string, string])
    for (const { group, totalAppended, items } of (await get('/v1/items', names)).groups) {
      const plain = items.map(({ member, occurredAt, payload }) => ({ member, occurredAt, payload }))
      groups.set(group, { totalAppended: Number(totalAppended), items: plain })
    }
    if (page.nextAfter === null) return groups
    after = [['after', page.nextAfter]]
  }
}

const sorted = (groups: Map<string, Expected>) => [...groups].sort(([a], [b]) => (a < b ? -1 : 1))

const MAPPING: Mapping = {
  group: 'path',
  groupPrefix: '',
  member: 'address',
  payload: ['method', 'status', 'userAgent'],
  memberRequired: false,
}

async function replayInto(databaseUrl: string, mode: (typeof MODES)[number]): Promise<ReplaySummary> {
  const target = await databaseTarget({ databaseUrl, defaultCapacity: undefined })
  try {
    return await replay([await inputOf(FILE)], target, {
      mapping: MAPPING,
      batch: 500,
      settings: mode === 'distinct' ? { mode } : null,
      strict: false,
      eventIds: false,
      signal: new AbortController().signal,
      progress: createProgress(null, { write: () => true } as unknown as NodeJS.WriteStream),
    })
  } finally {
    await target.close()
  }
}

const SUMMARY = { lines: 7000, appended: 6999, badLines: 1, groups: 1143, blankLines: 0, error: null }

async function check(databaseUrl: string, mode: (typeof MODES)[number]): Promise<void> {
  const store = await openStore({ url: databaseUrl, migrate: false })
  try {
    expect(sorted(await storedGroups(store))).toEqual(sorted(expectedGroups(mode)))
  } finally {
    await store.close()
  }
}

if (existsSync(FILE)) {
  for (const engine of ENGINES) {
    describeEngine(engine, 'the last 10 of every path of a real log', () => {
      it.each(MODES)('are what a plain computation gives, in mode %s', async (mode) => {
        const database = await freshDatabase(engine)
        try {
          expect(await replayInto(database.url, mode)).toMatchObject(SUMMARY)
          await check(database.url, mode)
        } finally {
          await database.drop()
        }
      })
    })
  }

  describe('the command line on a real log', () => {
    it('appends to a database', async () => {
      const database = await freshDatabase('sqlite')
      try {
        const ran = await run(['replay', FILE, '--database-url', database.url, '--json'])
        expect(JSON.parse(ran.stdout)).toMatchObject(SUMMARY)
        expect(ran.stderr).toMatch(/line 3029 has a path that can't name a group: it must have at most 191 characters/)
        expect(ran.code).toBe(0)
        await check(database.url, 'history')
      } finally {
        await database.drop()
      }
    })

    it.each(MODES)('appends to a running server, in mode %s', async (mode) => {
      const server = await startServer()
      const settings = mode === 'distinct' ? ['--mode', mode] : []
      const args = ['replay', '--server', server.url, '--json', ...settings]
      const ran = await run(args, { stdin: readFileSync(FILE) })
      expect(JSON.parse(ran.stdout)).toMatchObject(SUMMARY)
      expect(ran.code).toBe(0)
      expect(sorted(await servedGroups(server.url))).toEqual(sorted(expectedGroups(mode)))
      expect((await server.stop()).code).toBe(0)
    })
  })
} else {
  const missing = `NOT TESTED on a real access log: there is no file ${FILE}`
  process.stderr.write(`${missing}\n`)
  describe.skip(missing, () => {
    it('the last 10 of every path', () => {
      throw new Error(missing)
    })
  })
}
