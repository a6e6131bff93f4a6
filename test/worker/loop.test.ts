/** The loop that sweepers, pollers, consumers, publishers and streams share. Times are real and short. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Loop, type LoopOptions } from '../../src/kit/loop'
import { Barrier, sleep, until } from './support'

const loops: Loop[] = []

function loopOf(options: Partial<LoopOptions> & Pick<LoopOptions, 'round'>): Loop {
  const loop = new Loop({ faultPauses: { firstMs: 20, longestMs: 40 }, keepsAlive: true, ...options })
  loops.push(loop)
  return loop
}

describe('a loop', () => {
  afterEach(() => Promise.all(loops.splice(0).map((loop) => loop.stop())))

  it('waits for its first wake, then continues after the pauses that its rounds ask for', async () => {
    const pauses = [0, 30, null]
    const begun: number[] = []
    const loop = loopOf({
      round: async () => {
        begun.push(performance.now())
        return pauses.shift() ?? null
      },
    })
    await sleep(20)
    expect(begun).toEqual([])
    loop.wake()
    await until('it has nothing to do', () => begun.length === 3)
    await sleep(20)
    expect(begun.length).toBe(3)
    const [, second, third] = begun as [number, number, number]
    expect(third - second).toBeGreaterThanOrEqual(25)
    loop.wake()
    await until('it was woken', () => begun.length === 4)
  })

  it('a wake brings the next round forward and never puts it off, and idle cancels it', async () => {
    let rounds = 0
    const loop = loopOf({ round: async () => ++rounds * 60_000 })
    loop.wake(60_000)
    loop.wake(1)
    loop.wake(30_000)
    await until('the first round', () => rounds === 1)
    loop.wake(20)
    loop.idle()
    await sleep(60)
    expect(rounds).toBe(1)
  })

  it('runs one round at a time, and another one for a wake during a round', async () => {
    const barrier = new Barrier()
    let running = 0
    let most = 0
    let rounds = 0
    const loop = loopOf({
      round: async () => {
        most = Math.max(most, ++running)
        rounds++
        await barrier.opened
        running--
        return null
      },
    })
    loop.wake()
    await until('it runs', () => running === 1)
    loop.wake()
    loop.wake()
    await sleep(10)
    barrier.open()
    await until('the second round', () => rounds === 2 && running === 0)
    await sleep(10)
    expect([rounds, most]).toEqual([2, 1])
  })

  it('runs one round at a time too where a round wakes it or stops it before its first pause', async () => {
    const barrier = new Barrier()
    let running = 0
    let most = 0
    let rounds = 0
    const loop = loopOf({
      round: async () => {
        most = Math.max(most, ++running)
        if (++rounds < 3) loop.wake()
        else {
          loop.stop().then(() => ended.push('stop'))
          await barrier.opened
          ended.push('round')
        }
        await sleep(10)
        running--
        return null
      },
    })
    const ended: string[] = []
    loop.wake()
    await until('the third round', () => rounds === 3)
    barrier.open()
    await loop.stop()
    expect([rounds, most, running]).toEqual([3, 1, 0])
    await until('both have ended', () => ended.length === 2)
    expect(ended).toEqual(['round', 'stop'])
  })

  it('rests after a round, whatever wakes it', async () => {
    const begun: number[] = []
    const loop = loopOf({
      round: async () => {
        begun.push(performance.now())
        return null
      },
      restMs: () => 40,
    })
    loop.wake()
    await until('the first round', () => begun.length === 1)
    loop.wake()
    await until('the second round', () => begun.length === 2)
    expect((begun[1] as number) - (begun[0] as number)).toBeGreaterThanOrEqual(35)
  })

  it('reports the first of some faults in a row, and waits longer after each, unless it has recovered', async () => {
    const firsts: boolean[] = []
    const at: number[] = []
    let well = 0
    let isAway = true
    const loop = loopOf({
      round: async () => {
        if (isAway) throw new Error('away')
        well++
        return null
      },
      faultPauses: { firstMs: 100, longestMs: 60_000 },
      onFault: (_, isFirst) => {
        firsts.push(isFirst)
        at.push(performance.now())
      },
    })
    loop.wake()
    await until('it has failed three times', () => firsts.length >= 3)
    loop.wake()
    await until('it has failed a fourth time', () => firsts.length >= 4)
    expect(firsts.slice(0, 4)).toEqual([true, false, false, false])
    expect((at[3] as number) - (at[2] as number)).toBeGreaterThan(190)
    const recoveredAt = firsts.length
    loop.recovered()
    await until('it has failed again', () => firsts.length > recoveredAt)
    isAway = false
    loop.recovered()
    await until('it went well', () => well > 0)
    const before = firsts.length
    isAway = true
    loop.wake()
    await until('it has failed once more', () => firsts.length > before)
    expect([firsts[recoveredAt], firsts[before]]).toEqual([true, true])
  })

  it('continues after a listener for errors that throws', async () => {
    let rounds = 0
    const onFault = jest.fn(() => {
      throw new Error('a listener that throws')
    })
    const loop = loopOf({
      round: async () => {
        if (++rounds === 1) throw new Error('away')
        return null
      },
      onFault,
    })
    loop.wake()
    await until('the second round', () => rounds === 2)
    expect(onFault).toHaveBeenCalledTimes(1)
  })

  it('stops: tells the round that runs, resolves when it has ended, and begins no other', async () => {
    let rounds = 0
    let ended = false
    const loop = loopOf({
      round: async (stopping) => {
        rounds++
        await new Promise((resolve) => stopping.addEventListener('abort', resolve))
        await sleep(20)
        ended = true
        return 0
      },
    })
    loop.wake()
    await until('it runs', () => rounds === 1)
    await loop.stop()
    expect(ended).toBe(true)
    loop.wake()
    await loop.stop()
    await sleep(10)
    expect(rounds).toBe(1)
  })

  it('runs in no scope of the code that wakes it', async () => {
    const scope = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const loop = loopOf({ round: async () => seen.push(scope.getStore()) })
    scope.run('a transaction', () => loop.wake())
    await until('some rounds', () => seen.length >= 3)
    expect(new Set(seen)).toEqual(new Set([undefined]))
  })
})
