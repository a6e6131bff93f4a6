import { LongPoll } from '../../src/kit/long-poll'

const FOREVER = { waitMs: 60_000 }

describe('a long poll', () => {
  it('ends the waits of a topic, and of callers whose mark makes it news', async () => {
    const polls = new LongPoll<number>({ what: 'calls' })
    const [a, b, other] = ['t', 't', 'u'].map((topic) => polls.enter(topic, FOREVER))
    const ended: string[] = []
    const waits = [
      a?.again(1).then((again) => ended.push(`a ${again}`)),
      b?.again(5).then((again) => ended.push(`b ${again}`)),
      other?.again(0).then((again) => ended.push(`other ${again}`)),
    ]
    polls.wake('t', (mark) => (mark ?? 0) < 3)
    await waits[0]
    expect(ended).toEqual(['a true'])
    polls.wake('t')
    await waits[1]
    expect(ended).toEqual(['a true', 'b true'])
    expect([polls.size, polls.awaited]).toEqual([3, ['u']])
    for (const caller of [a, b, other]) caller?.leave()
    expect([polls.size, polls.awaited]).toEqual([0, []])
  })

  it('says for which topics a caller waits, and when: not for a caller that looks', async () => {
    const waits: string[][] = []
    const polls: LongPoll = new LongPoll({ what: 'calls', onWait: () => waits.push(polls.awaited) })
    const [caller, other] = [polls.enter('t', FOREVER), polls.enter('u', FOREVER)]
    expect(polls.awaited).toEqual([])
    const wait = caller.again()
    expect(waits).toEqual([['t']])
    polls.wake('t')
    expect(polls.awaited).toEqual([])
    expect(await wait).toBe(true)
    for (const one of [caller, other]) one.leave()
  })

  it('misses no news between a look and the wait for it', async () => {
    const polls = new LongPoll({ what: 'calls' })
    const caller = polls.enter('t', FOREVER)
    caller.look()
    polls.wake('t')
    expect(await caller.again()).toBe(true)
    caller.look()
    const wait = caller.again()
    polls.wake('t')
    expect(await wait).toBe(true)
    caller.leave()
  })

  it('has a caller look a last time when its time has ended', async () => {
    const polls = new LongPoll({ what: 'calls' })
    const caller = polls.enter('t', { waitMs: 20 })
    const begin = performance.now()
    expect(await caller.again()).toBe(true)
    expect(performance.now() - begin).toBeGreaterThan(15)
    caller.look()
    expect(await caller.again()).toBe(false)
    caller.leave()
    const hasty = polls.enter('t', { waitMs: 0 })
    expect(await hasty.again()).toBe(false)
    hasty.leave()
  })

  it('has all callers of a topic look at the same time', async () => {
    const polls = new LongPoll({ what: 'calls' })
    const callers = [polls.enter('t', FOREVER), polls.enter('t', FOREVER)]
    for (let round = 0; round < 3; round++) {
      for (const caller of callers) caller.look()
      const waits = callers.map((caller) => caller.again())
      expect(polls.awaited).toEqual(['t'])
      polls.wake('t')
      expect(await Promise.all(waits)).toEqual([true, true])
    }
    for (const caller of callers) caller.leave()
  })

  it('answers a caller that has aborted, while it looked or while it waits', async () => {
    const polls = new LongPoll({ what: 'calls' })
    const abort = new AbortController()
    const caller = polls.enter('t', { ...FOREVER, signal: abort.signal })
    const waiting = polls.enter('t', { ...FOREVER, signal: abort.signal })
    const wait = waiting.again()
    abort.abort()
    expect([await wait, await caller.again()]).toEqual([false, false])
    const late = polls.enter('t', { ...FOREVER, signal: abort.signal })
    expect(await late.again()).toBe(false)
    for (const one of [caller, waiting, late]) one.leave()
  })

  it('refuses callers beyond its bound, and after it has closed, which waits until all have left', async () => {
    let overloads = 0
    const polls = new LongPoll({ what: 'calls', maxCallers: 1, onOverload: () => overloads++ })
    const caller = polls.enter('t', FOREVER)
    expect(() => polls.enter('t', FOREVER)).toThrow(
      expect.objectContaining({ code: 'overloaded', retryAfterSeconds: 1 }),
    )
    expect(overloads).toBe(1)
    const wait = caller.again()
    let isClosed = false
    const closing = polls.close().then(() => {
      isClosed = true
    })
    const again = polls.close()
    expect(await wait).toBe(false)
    expect(isClosed).toBe(false)
    caller.leave()
    await Promise.all([closing, again])
    expect(() => polls.enter('t', FOREVER)).toThrow(expect.objectContaining({ code: 'closed' }))
  })
})
