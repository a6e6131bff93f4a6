import { Pauses, retrySeconds } from '../../src/shared/backoff'

const LEAST = () => 1 - Number.EPSILON
const MOST = () => 0

describe('the pause after a failure', () => {
  it('doubles with each receive, up to the maximum', () => {
    const bounds = { minSeconds: 1, maxSeconds: 600 }
    const counts = Array.from({ length: 14 }, (_, n) => n + 1)
    expect(counts.map((count) => retrySeconds(count, bounds, LEAST))).toEqual([
      1, 2, 4, 8, 16, 32, 64, 128, 256, 400, 400, 400, 400, 400,
    ])
    expect(counts.map((count) => retrySeconds(count, bounds, MOST))).toEqual([
      2, 3, 6, 12, 24, 48, 96, 192, 384, 600, 600, 600, 600, 600,
    ])
    expect(retrySeconds(1_000_000, bounds, MOST)).toBe(600)
  })

  it('has jitter: those that failed together come back at different times', () => {
    const pauses = Array.from({ length: 200 }, () => retrySeconds(8, { minSeconds: 1, maxSeconds: 600 }))
    expect(new Set(pauses).size).toBeGreaterThan(20)
    for (const seconds of pauses) {
      expect(seconds).toBeGreaterThanOrEqual(128)
      expect(seconds).toBeLessThanOrEqual(192)
      expect(Number.isInteger(seconds)).toBe(true)
    }
  })

  it('is none at first where the minimum is none, and always where the maximum is', () => {
    const counts = [1, 2, 3, 4]
    expect(counts.map((count) => retrySeconds(count, { minSeconds: 0, maxSeconds: 600 }, LEAST))).toEqual([0, 1, 2, 4])
    expect(counts.map((count) => retrySeconds(count, { minSeconds: 0, maxSeconds: 0 }))).toEqual([0, 0, 0, 0])
  })

  it('is never outside of its bounds', () => {
    for (const [minSeconds, maxSeconds] of [
      [1, 1],
      [5, 7],
      [600, 600],
      [0, 1],
    ] as const) {
      for (let count = 1; count < 40; count++) {
        const seconds = retrySeconds(count, { minSeconds, maxSeconds })
        expect(seconds).toBeGreaterThanOrEqual(minSeconds)
        expect(seconds).toBeLessThanOrEqual(maxSeconds)
      }
    }
  })
})

test('the pauses of a loop grow to the longest, and begin again when it went well', () => {
  const pauses = new Pauses(5000)
  const taken = Array.from({ length: 12 }, () => pauses.next())
  expect(taken[0]).toBeLessThanOrEqual(100)
  expect(taken[4]).toBeGreaterThan(taken[1] as number)
  for (const ms of taken.slice(7)) expect([ms >= 2500, ms <= 5000]).toEqual([true, true])
  pauses.reset()
  expect(pauses.next()).toBeLessThanOrEqual(100)
})
