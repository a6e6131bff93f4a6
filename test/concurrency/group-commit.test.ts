import type { GroupCommitOptions } from '../../src/kit/commit-calls'
import { GroupCommit } from '../../src/kit/group-commit'
import { RecentnError } from '../../src/shared/errors'
import { moment, pause, soonMs } from '../support/timing'

/** Names that are written, of which each is a lock. */
type Request = { names: string[]; text: string }

type Options = GroupCommitOptions<Request, string>

const LANES = 2
const LOCK_TIMEOUT_MS = 40
const PATIENCE_MS = 3000

/** Locks that another transaction holds, and what was committed, by which lane. */
function useLocks() {
  const held = new Set<string>()
  const committed: { lane: number; text: string }[] = []
  const isHeld = ({ names }: Request) => names.some((name) => held.has(name))
  let looks = 0
  const options: Options = {
    what: 'writes',
    lanes: LANES,
    newWriter: () => 'w',
    forget: async () => {},
    maxBatchItems: 20,
    timeLimitMs: PATIENCE_MS,
    // By the first letter of the first name: capitals and small letters share lanes, not keys.
    keyOf: ({ names }) => (names[0] as string).charCodeAt(0),
    sizeOf: () => ({ items: 1, bytes: 1 }),
    run: async (requests, { writer: { lane } }) => {
      const deadline = performance.now() + LOCK_TIMEOUT_MS
      while (requests.some(isHeld)) {
        if (performance.now() >= deadline) throw new RecentnError('conflict')
        await pause(2)
      }
      await pause(2)
      for (const { text } of requests) committed.push({ lane, text })
      return requests.map(({ text }) => text)
    },
    heldLocks: async (requests) => {
      looks++
      return requests.map(({ names }) => names.find((name) => held.has(name)) ?? null)
    },
  }
  return { held, committed, options, looks: () => looks }
}

/** For a caller that can see no lock. */
const looksFree: Options['heldLocks'] = async (requests) => requests.map(() => null)

function adder(commits: GroupCommit<Request, string>) {
  return (text: string, ...names: string[]) =>
    new Promise<string>((resolve, reject) => commits.hand({ names, text }, { resolve, reject }))
}

const codeOf = (call: Promise<string>) =>
  call.catch((error: unknown) => (error instanceof RecentnError ? error.code : String(error)))

async function msOf(call: Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await call
  return performance.now() - begin
}

describe('writes that meet locks of another transaction', () => {
  it('a name that is locked for long lets all others through, those too that were locked when it came', async () => {
    const { held, options } = useLocks()
    const add = adder(new GroupCommit(options))
    for (const name of ['a', 'c']) held.add(name)
    const stuck = codeOf(add('stuck', 'c'))
    const waiting = codeOf(add('waiting', 'a'))
    await pause(LOCK_TIMEOUT_MS * 2)
    held.delete('a')
    expect(await waiting).toBe('waiting')
    let slowest = 0
    const begin = performance.now()
    const more: Promise<string>[] = []
    for (let n = 0; performance.now() - begin < PATIENCE_MS; n++) {
      more.push(codeOf(add(`c${n}`, 'c')))
      slowest = Math.max(slowest, await msOf(add(`a${n}`, 'a')))
    }
    expect(await stuck).toBe('conflict')
    expect(slowest).toBeLessThan(soonMs(PATIENCE_MS / 2))
    held.delete('c')
    // A call that came late has waited for less than that.
    expect((await Promise.all(more)).at(-1)).toMatch(/^c\d+$/)
  })

  it('a request that is refused for a lock fails alone after the time limit, and not before', async () => {
    const { held, options } = useLocks()
    const add = adder(new GroupCommit(options))
    held.add('c')
    const ms = msOf(codeOf(add('c', 'c')))
    const others = Array.from({ length: 50 }, (_, n) => codeOf(add(`${n}`, n % 2 ? 'a' : 'e')))
    expect(await Promise.all(others)).toEqual(Array.from({ length: 50 }, (_, n) => `${n}`))
    expect(await ms).toBeGreaterThanOrEqual(PATIENCE_MS)
  })

  it('more of what is locked than a batch takes keeps nothing waiting that is free', async () => {
    const { held, options } = useLocks()
    const add = adder(new GroupCommit(options))
    for (const name of ['a', 'c']) held.add(name)
    const stuck = Array.from({ length: 90 }, (_, n) => codeOf(add(`c${n}`, 'c')))
    const waiting = codeOf(add('a', 'a'))
    await pause(LOCK_TIMEOUT_MS * 3)
    held.delete('a')
    expect(await msOf(waiting)).toBeLessThan(soonMs(PATIENCE_MS / 2))
    held.delete('c')
    expect(await Promise.all(stuck)).toEqual(Array.from({ length: 90 }, (_, n) => `c${n}`))
  })

  it('a call whose lock is free again when it is asked goes through its own lane', async () => {
    const { held, committed, options, looks } = useLocks()
    const heldLocks: typeof options.heldLocks = async (requests) => {
      held.delete('c')
      return options.heldLocks(requests)
    }
    const add = adder(new GroupCommit({ ...options, heldLocks }))
    held.add('c')
    await Promise.all(Array.from({ length: 15 }, (_, n) => add(`${n}`, n % 3 ? 'c' : 'a')))
    expect(committed.map(({ lane }) => lane)).toEqual(Array(15).fill('c'.charCodeAt(0) % LANES))
    expect(looks()).toBe(1)
  })

  it('what looks free and is not is found by parting: it fails alone', async () => {
    const { held, options } = useLocks()
    const add = adder(new GroupCommit({ ...options, heldLocks: looksFree }))
    held.add('e')
    const stuck = codeOf(add('stuck', 'e'))
    const others = [...'aAcCEgGiI'].map((name) => codeOf(add(name, name)))
    expect((await Promise.all(others)).join('')).toBe('aAcCEgGiI')
    expect(await stuck).toBe('conflict')
  })

  it('a locked call fails in its time, though others that are set aside are never idle', async () => {
    const { held, options } = useLocks()
    const slowly: typeof options.run = async (requests, writing) => {
      await pause(20)
      return options.run(requests, writing)
    }
    const add = adder(new GroupCommit({ ...options, run: slowly }))
    for (const name of ['a', 'c']) held.add(name)
    const stuck = codeOf(add('stuck', 'c'))
    let isOver = false
    stuck.finally(() => {
      isOver = true
    })
    // More often than it is answered: of this name a call is always set aside.
    const calls: Promise<string>[] = []
    const busy = setInterval(() => calls.push(codeOf(add('busy', 'a'))), 4)
    await pause(LOCK_TIMEOUT_MS * 8)
    held.delete('a')
    await pause(2 * PATIENCE_MS)
    clearInterval(busy)
    expect(isOver).toBe(true)
    expect(await stuck).toBe('conflict')
    held.clear()
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['busy']))
  })

  it('what is held whenever it is asked, by other processes in turns, gets its turn, though others are free', async () => {
    const { held, options } = useLocks()
    // Each process releases it soon; the call that waits for it gets it.
    const heldLocks: typeof options.heldLocks = async (requests) =>
      requests.map(({ names }) => names.find((name) => name === 'c' || held.has(name)) ?? null)
    const add = adder(new GroupCommit({ ...options, heldLocks }))
    held.add('c')
    const calls = [codeOf(add('first', 'c')), codeOf(add('second', 'c'))]
    await pause(LOCK_TIMEOUT_MS * 2)
    held.delete('c')
    let isOver = false
    const over = Promise.all(calls).finally(() => {
      isOver = true
    })
    for (let n = 0; !isOver; n++) await Promise.all([add(`${n}`, 'a'), add(`${n}`, 'C')])
    expect(await over).toEqual(['first', 'second'])
  })

  it('calls for a lock that others hold in turns go together, and without one behind them that is stuck', async () => {
    const { held, options } = useLocks()
    const heldLocks: typeof options.heldLocks = async (requests) =>
      requests.map(({ names }) => names.find((name) => name === 'c' || held.has(name)) ?? null)
    const batches: number[] = []
    let refused = 0
    const run: typeof options.run = async (requests, writing) => {
      batches.push(requests.length)
      try {
        return await options.run(requests, writing)
      } catch (error) {
        refused++
        throw error
      }
    }
    const add = adder(new GroupCommit({ ...options, heldLocks, run }))
    held.add('c').add('z')
    const texts = ['0', '1', '2', '3', '4']
    const calls = texts.map((text) => codeOf(add(text, 'c')))
    const stuck = codeOf(add('stuck', 'c', 'z'))
    await pause(LOCK_TIMEOUT_MS * 2)
    held.delete('c')
    expect(await Promise.all(calls)).toEqual(texts)
    expect(await stuck).toBe('conflict')
    batches.splice(0)
    held.add('c')
    refused = 0
    const later = texts.map((text) => codeOf(add(text, 'c')))
    while (refused === 0) await pause(1)
    held.delete('c')
    expect(await Promise.all(later)).toEqual(texts)
    // The batch that met the lock, and the turn of all.
    expect(batches).toEqual([5, 5])
  })

  it('waits briefly for a lock, but not where the transactions that succeed take long', async () => {
    const { options } = useLocks()
    const waits: number[] = []
    let takesMs = 0
    const run: typeof options.run = async (requests, writing) => {
      waits.push(writing.lockSeconds)
      await pause(takesMs)
      return options.run(requests, writing)
    }
    const add = adder(new GroupCommit({ ...options, run }))
    const three = async () => {
      for (let n = 0; n < 3; n++) await add(`${n}`, 'a')
      return waits.splice(0)
    }
    expect(await three()).toEqual([1, 1, 1])
    takesMs = 1500
    expect((await three()).at(-1)).toBeGreaterThanOrEqual(5)
    takesMs = 0
    for (let n = 0; n < 20; n++) await add(`${n}`, 'a')
    expect(waits.at(-1)).toBe(1)
  })

  it('many that wait for one invisible lock fail in their time', async () => {
    const { held, options } = useLocks()
    const run: typeof options.run = async (requests, writing) => {
      await pause(held.size > 0 ? 5 * LOCK_TIMEOUT_MS : 0)
      return options.run(requests, writing)
    }
    const add = adder(new GroupCommit({ ...options, run, heldLocks: looksFree }))
    held.add('x')
    const begin = performance.now()
    const names = Array.from({ length: 16 }, (_, n) => String.fromCharCode(97 + n))
    const codes = await Promise.all(names.map((name) => codeOf(add(name, name, 'x'))))
    expect(new Set(codes)).toEqual(new Set(['conflict']))
    // One after the other they would take 31 tries of a quarter of a second.
    expect(performance.now() - begin).toBeLessThan(soonMs(PATIENCE_MS + 4000))
  })

  it('a call overtakes none for the same name that came before one which went aside', async () => {
    const { held, committed, options } = useLocks()
    const slowly: typeof options.run = async (requests, writing) => {
      if (writing.writer.lane < LANES) await pause(LOCK_TIMEOUT_MS * 4)
      return options.run(requests, writing)
    }
    const asked = moment()
    const heldLocks: typeof options.heldLocks = async (requests) => {
      asked.come()
      return options.heldLocks(requests)
    }
    const add = adder(new GroupCommit({ ...options, run: slowly, heldLocks }))
    held.add('z')
    const calls = [add('first', 'a'), add('both', 'a', 'z')]
    await asked.reached
    await pause(5)
    calls.push(add('second', 'a'))
    await Promise.all([calls[0], calls[2]])
    expect(committed.map(({ text }) => text)).toEqual(['first', 'second'])
    held.delete('z')
    await Promise.all(calls)
  })

  it('calls for one name are run in their order, whatever is locked then, and others with them', async () => {
    const { held, committed, options } = useLocks()
    const add = adder(new GroupCommit({ ...options, timeLimitMs: 60_000 }))
    const calls: Promise<string>[] = []
    for (let n = 0; n < 400; n++) {
      const id = String(n).padStart(3, '0')
      calls.push(add(`a${id}`, 'a'), add(`c${id}`, 'c'))
      // Of the key of the one, for the locks of both.
      if (n % 7 === 0) calls.push(add(`m${id}`, 'a', 'c'))
      if (n % 11 === 0) calls.push(add(`n${id}`, 'a', 'z'))
      if (n % 40 === 0) held.add(['a', 'c', 'z'][(n / 40) % 3] as string)
      if (n % 40 === 25) held.delete(['a', 'c', 'z'][((n - 25) / 40) % 3] as string)
      if (n % 10 === 0) await pause(LOCK_TIMEOUT_MS / 2)
    }
    held.clear()
    await Promise.all(calls)
    for (const letter of ['a', 'c', 'm', 'n']) {
      const mine = committed.map(({ text }) => text).filter((text) => text.startsWith(letter))
      expect(mine).toEqual([...mine].sort())
    }
    expect(committed).toHaveLength(calls.length)
    expect(committed.some(({ lane }) => lane === LANES)).toBe(true)
  })
})
