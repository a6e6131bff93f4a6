/** The harness itself: a server without an attack is unharmed, and harm is seen where there is some. */

import { pause } from '../support/timing'
import { expectUnharmed, startAttacked } from './support/attacked'

test('a server without an attack is small, and answers at once', async () => {
  const attacked = await startAttacked()
  const harm = await attacked.harmOf(() => pause(1000))
  expectUnharmed(harm)
  expect(harm.peakMb).toBeGreaterThan(20)
  expect(harm.asked).toBeGreaterThan(30)
})

test('who waits is seen', async () => {
  const attacked = await startAttacked()
  const harmOfStop = (ms: number) =>
    attacked.harmOf(async () => {
      attacked.server.process.kill('SIGSTOP')
      await pause(ms)
      attacked.server.process.kill('SIGCONT')
    })
  // Part of the wait is the machine's, and left out: the busier it is, the longer the stop has to be.
  let harm = await harmOfStop(700)
  for (let ms = 1400; harm.longestWaitMs <= 600 && ms < 20_000; ms *= 2) harm = await harmOfStop(ms)
  expect(harm.longestWaitMs).toBeGreaterThan(600)
  expect(() => expectUnharmed(harm)).toThrow(/isSoon/)
})
