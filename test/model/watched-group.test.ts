/**
 * The events that listeners of a group get, while the ring changes between any two reads of it: random appends, removals
 * and expiries; looks that fail halfway, or stop at their bounds; listeners that take slowly, begin late, or were away. In
 * the end everyone has the window. `RECENTN_MODEL_SEED`, `RECENTN_MODEL_PATH` and `RECENTN_MODEL_RUNS` as for the ring.
 */
import fc from 'fast-check'
import type { Mode } from '../../src/shared/group-types'
import { type Leg, WatchedGroup } from '../../src/store/streams/watched-group'
import { Follower, Ring } from './watched-ring'

type Step =
  | { kind: 'append'; count: number }
  | { kind: 'remove'; at: number }
  | { kind: 'clear' }
  | { kind: 'look' }
  | { kind: 'deliver'; count: number }
  | { kind: 'settle' }
  | { kind: 'fail' }
  | { kind: 'follow' }
  | { kind: 'comeBack'; who: number }
  | { kind: 'take'; who: number; count: number }

const who = fc.nat(3)
const of = <K extends string, T extends object>(kind: K, rest: { [P in keyof T]: fc.Arbitrary<T[P]> }) =>
  fc.record({ kind: fc.constant(kind), ...rest }) as fc.Arbitrary<{ kind: K } & T>
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: of('append', { count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 5, arbitrary: of('remove', { at: fc.nat(5) }) },
  { weight: 1, arbitrary: of('clear', {}) },
  { weight: 8, arbitrary: of('look', {}) },
  { weight: 8, arbitrary: of('deliver', { count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 6, arbitrary: of('settle', {}) },
  { weight: 1, arbitrary: of('fail', {}) },
  { weight: 1, arbitrary: of('follow', {}) },
  { weight: 2, arbitrary: of('comeBack', { who }) },
  { weight: 6, arbitrary: of('take', { who, count: fc.integer({ min: 1, max: 6 }) }) },
)

class Play {
  readonly #watched = new WatchedGroup('g')
  readonly #ring: Ring
  readonly #followers: Follower[] = []
  /** Of the look that is under way; null while none is. */
  #legs: Leg[] | null = null

  constructor(capacity: number, mode: Mode) {
    this.#ring = new Ring(capacity, mode)
    this.#follow()
  }

  get resets(): number {
    return this.#followers.reduce((sum, { resets }) => sum + resets, 0)
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const one of steps) await this.#step(one)
    if (this.#legs) this.#finish()
    for (let round = 0; round < 100; round++) {
      for (const follower of this.#followers) await follower.take(1000)
      this.#legs = this.#watched.look(this.#ring.window())
      this.#finish()
    }
    for (const follower of this.#followers) {
      await follower.take(1000)
      expect(follower.ids).toEqual(this.#ring.ids)
    }
  }

  async #step(one: Step): Promise<void> {
    const follower = 'who' in one ? this.#followers[one.who] : undefined
    if (one.kind === 'append') for (let n = 0; n < one.count; n++) this.#ring.append()
    else if (one.kind === 'remove') this.#ring.remove(one.at)
    else if (one.kind === 'clear') this.#ring.clear()
    else if (one.kind === 'look') this.#legs ??= this.#watched.look(this.#ring.window())
    else if (one.kind === 'deliver') this.#deliver(one.count)
    else if (one.kind === 'settle') this.#settle()
    else if (one.kind === 'fail') this.#legs = null
    else if (one.kind === 'follow') this.#follow()
    else if (one.kind === 'comeBack') follower?.comeBack()
    else if (one.kind === 'take') await follower?.take(one.count)
  }

  #follow(): void {
    if (this.#followers.length < 4) this.#followers.push(new Follower(this.#ring, this.#watched))
  }

  #deliver(count: number): void {
    for (const leg of this.#legs ?? []) {
      const places = leg.places.slice(leg.at, leg.at + count)
      if (leg.at > 0 && places.length === 0) continue
      this.#watched.deliver(leg, leg.at + places.length, this.#ring.rows(places))
      leg.at += places.length
    }
  }

  #settle(): void {
    if (this.#legs) this.#watched.settle()
    this.#legs = null
  }

  #finish(): void {
    this.#deliver(this.#ring.capacity)
    this.#settle()
  }
}

it('in the end everyone has the window', async () => {
  const { RECENTN_MODEL_SEED: seed, RECENTN_MODEL_PATH: path, RECENTN_MODEL_RUNS: runs } = process.env
  let untold = 0
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom('history' as const, 'distinct' as const, 'top' as const),
      fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }),
      async (capacity, mode, steps) => {
        const play = new Play(capacity, mode)
        await play.play(steps)
        if (play.resets === 0) untold++
      },
    ),
    {
      numRuns: runs ? Number(runs) : 1500,
      ...(seed ? { seed: Number(seed) } : {}),
      ...(path ? { path } : {}),
      interruptAfterTimeLimit: 40_000,
    },
  )
  // A reset makes everything right: most of it has to be right without.
  expect(untold).toBeGreaterThan(0)
})
