/** The harness itself: a server that nobody attacks is unharmed, and harm is seen where there is some. */

import { pause } from '../support/timing'
import { expectUnharmed, startAttacked } from './support/attacked'

test('a server that nobody attacks is small, and answers at once', async () => {
  const attacked = await startAttacked()
  const harm = await attacked.harmOf(() => pause(1000))
  expectUnharmed(harm)
  expect(harm.peakMb).toBeGreaterThan(20)
  expect(harm.asked).toBeGreaterThan(30)
})

test('who waits is seen', async () => {
  const attacked = await startAttacked()
  const harm = await attacked.harmOf(async () => {
    attacked.server.process.kill('SIGSTOP')
    await pause(700)
    attacked.server.process.kill('SIGCONT')
  })
  expect(harm.longestWaitMs).toBeGreaterThan(600)
  expect(() => expectUnharmed(harm)).toThrow(/isSoon/)
})
