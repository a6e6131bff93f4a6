import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { LogInput } from '../../src/cli/lines'
import type { Mapping } from '../../src/cli/mapping'
import type { Progress } from '../../src/cli/progress'
import { type ReplayOptions, type ReplaySummary, replay } from '../../src/cli/replay'
import { databaseTarget } from '../../src/cli/targets'
import { openStore } from '../../src/store/open'
import type { Store } from '../../src/store/types'
import { type Database, freshDatabase } from '../support/engines'
import { logLine } from './support'

const MAPPING: Mapping = {
  group: 'path',
  groupPrefix: '',
  member: 'address',
  payload: ['status'],
  memberRequired: false,
}

let database: Database
let store: Store
let notes: string[]

beforeEach(async () => {
  database = await freshDatabase('sqlite')
  store = await openStore({ url: database.url })
  notes = []
})
afterEach(async () => {
  await store.close()
  await database.drop()
})

function inputOf(content: string | Buffer, name = 'test.log'): LogInput {
  const bytes = Buffer.from(content as string)
  const chunks = Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, n) =>
    bytes.subarray(n * 1000, n * 1000 + 1000),
  )
  return { name, size: bytes.length, open: () => Readable.from(chunks, { objectMode: false }) }
}

async function replayed(
  content: string | Buffer | LogInput[],
  options: Partial<ReplayOptions> = {},
  defaultCapacity?: number,
): Promise<ReplaySummary> {
  const target = await databaseTarget({ databaseUrl: database.url, defaultCapacity })
  const progress: Progress = { advance() {}, count() {}, note: (text) => notes.push(text), stop() {} }
  const signal = new AbortController().signal
  try {
    return await replay(Array.isArray(content) ? content : [inputOf(content)], target, {
      mapping: MAPPING,
      batch: 500,
      settings: null,
      strict: false,
      eventIds: false,
      signal,
      progress,
      ...options,
    })
  } finally {
    await target.close()
  }
}

/** Seconds of the times of the items, newest first: the `n` of their lines. */
async function left(group: string): Promise<number[]> {
  const { items } = await store.groups.recent(group, { limit: 1000 })
  return items.map((item) => ((item.occurredAt?.getTime() as number) - Date.UTC(2024, 0, 1)) / 1000)
}

const lines = (count: number, path = '/') => Array.from({ length: count }, (_, n) => logLine(path, n)).join('')

describe('a replay', () => {
  it('keeps the order of the lines, whatever the batch', async () => {
    const request = fc.record({ path: fc.constantFrom('/a', '/b', '/c'), who: fc.integer({ min: 0, max: 5 }) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { maxLength: 60 }),
        fc.integer({ min: 1, max: 25 }),
        fc.constantFrom('history' as const, 'distinct' as const),
        async (requests, batch, mode) => {
          for (const path of ['/a', '/b', '/c']) await store.groups.drop(path)
          const log = requests.map(({ path, who }, n) => logLine(path, n, `192.0.2.${who}`)).join('')
          const summary = await replayed(log, { batch, settings: { mode, capacity: 4 } })
          expect(summary).toMatchObject({ lines: requests.length, appended: requests.length, badLines: 0, error: null })
          for (const path of ['/a', '/b', '/c']) {
            const seen = requests.map((one, n) => ({ ...one, n })).filter((one) => one.path === path)
            const kept = seen.filter(
              (one, at) => mode === 'history' || !seen.slice(at + 1).some((later) => later.who === one.who),
            )
            const expected = kept.map((one) => one.n).reverse()
            expect(await left(path)).toEqual(expected.slice(0, 4))
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  it('reads several files one after the other, numbering the lines of each', async () => {
    const one = inputOf(`${logLine('/', 1)}${logLine('/', 2)}`, 'one.log')
    const two = inputOf(gzipSync(`nonsense\n${logLine('/', 3)}`), 'two.log')
    expect(await replayed([one, two])).toMatchObject({ lines: 4, appended: 3, badLines: 1, groups: 1 })
    expect(await left('/')).toEqual([3, 2, 1])
    expect(notes).toEqual([expect.stringMatching(/^two\.log, line 1 does not begin with/)])
  })

  it('counts bad lines, reports the first 20 and passes over blank ones', async () => {
    const bad = Array.from({ length: 30 }, (_, n) => `${logLine('/', n)}nonsense\n`).join('')
    const summary = await replayed(`\n  \r\n${bad}${'x'.repeat(70_000)}\n`)
    expect(summary).toMatchObject({ lines: 63, appended: 30, badLines: 31, blankLines: 2, error: null })
    expect(notes).toHaveLength(21)
    expect(notes[0]).toContain('line 4 ')
    expect(notes[20]).toBe('and 11 more bad lines')
  })

  it('reports a line that is too long', async () => {
    await replayed(`${'x'.repeat(70_000)}\n${logLine('/', 1)}`)
    expect(notes).toEqual(['test.log, line 1 is longer than 64 KiB'])
    expect(await left('/')).toEqual([1])
  })

  it('that is strict stops at the first bad line, with nothing of its batch', async () => {
    const summary = await replayed(`${lines(7)}nonsense\n${lines(7)}`, { strict: true, batch: 5 })
    expect(summary).toMatchObject({ lines: 8, appended: 5, badLines: 1 })
    expect(summary.error).toMatch(/line 8 does not begin .* --strict/)
    expect(await left('/')).toEqual([4, 3, 2, 1, 0])
  })

  it('reports what the store refuses, and appends the rest in order', async () => {
    await store.groups.put('/users', { mode: 'distinct' })
    const log = [1, 2, 3, 4].map((n) => logLine(n % 2 ? '/users' : '/', n)).join('')
    const named = logLine('/users', 5).replace('- - [', '- fred [')
    const summary = await replayed(log + named, { mapping: { ...MAPPING, member: 'user' } })
    expect(summary).toMatchObject({ lines: 5, appended: 3, badLines: 2, groups: 2, error: null })
    expect(notes).toEqual([
      expect.stringMatching(/line 1 was refused: .*member/),
      expect.stringMatching(/line 3 was refused: .*member/),
    ])
    expect(await left('/')).toEqual([4, 2])
    expect(await left('/users')).toEqual([5])
  })

  it('that is strict appends nothing of a batch of which the store refuses an item', async () => {
    await store.groups.put('/users', { mode: 'distinct' })
    const log = logLine('/', 1) + logLine('/users', 2)
    const summary = await replayed(log, { mapping: { ...MAPPING, member: 'none' }, strict: true })
    expect(summary).toMatchObject({ appended: 0, badLines: 1, error: expect.stringContaining('line 2 was refused') })
    expect(await left('/')).toEqual([])
  })

  it('appends the whole lines of a file that is broken, and says so', async () => {
    const whole = gzipSync(Array.from({ length: 5000 }, (_, n) => logLine(`/${(n * 7919) % 5000}`, n)).join(''))
    const summary = await replayed(whole.subarray(0, whole.length / 2))
    expect(summary.error).toBe("test.log can't be read: unexpected end of file")
    expect(summary.appended).toBeGreaterThan(1000)
    expect(summary.appended).toBe(summary.lines)
  })
})

describe('the settings of the groups of a replay', () => {
  it('are left as they are when none is given', async () => {
    await store.groups.put('/', { capacity: 3 })
    await replayed(lines(5))
    expect(await left('/')).toEqual([4, 3, 2])
  })

  it('replace those the groups had, once', async () => {
    await store.groups.put('/', { capacity: 3, ttlSeconds: 3600 })
    await replayed(lines(30), { settings: { capacity: 12 }, batch: 7 })
    expect(await store.groups.get('/')).toMatchObject({ capacity: 12, mode: 'history', ttlSeconds: null })
    expect(await left('/')).toHaveLength(12)
  })

  it('follow the default capacity of the server that the database belongs to', async () => {
    await replayed(lines(30), {}, 25)
    await store.close()
    store = await openStore({ url: database.url, defaultCapacity: 25 })
    expect(await left('/')).toHaveLength(25)
  })
})

describe('a replay with event ids', () => {
  const log = Array.from({ length: 60 }, (_, n) => logLine(['/a', '/b', '/b', '/c', '/b'][n % 5] as string, n)).join('')

  it.each([0, 3, 17, 40, 59, 60])('that was cut off after %d lines can be repeated', async (count) => {
    const begun = log.split('\n').slice(0, count).join('\n')
    const settings = { capacity: 5 }
    await replayed(begun, { eventIds: true, settings, batch: 4 })
    const summary = await replayed(log, { eventIds: true, settings, batch: 9 })
    expect(summary.appended + summary.alreadyThere).toBe(60)
    for (const [group, rests] of [
      ['/a', [0]],
      ['/b', [1, 2, 4]],
      ['/c', [3]],
    ] as const) {
      const all = Array.from({ length: 60 }, (_, n) => n).filter((n) => (rests as readonly number[]).includes(n % 5))
      expect(await left(group)).toEqual(all.slice(-5).reverse())
    }
  })

  it('appends nothing twice while the window still has it', async () => {
    await replayed(lines(8), { eventIds: true })
    expect(await replayed(lines(8), { eventIds: true })).toMatchObject({ appended: 0, alreadyThere: 8, groups: 1 })
    expect((await store.groups.get('/'))?.totalAppended).toBe(8n)
  })

  it('appends the lines of a rotated log of the same name', async () => {
    await replayed(lines(2), { eventIds: true })
    expect(await replayed(logLine('/', 5), { eventIds: true })).toMatchObject({ appended: 1, alreadyThere: 0 })
  })
})
