/** A text of a caller in one of our small languages costs little to judge, whatever it is. Cron patterns: `ticks.test.ts`. */
import fc from 'fast-check'
import { CURSOR } from '../src/fields/feeds'
import { unknownDetail } from '../src/fields/field'
import { partsOf } from '../src/fields/keys'
import { ID, NAME, POSITION, PREFIX, TABLE_PREFIX, TIME } from '../src/fields/rules'
import { timeZoneFault } from '../src/fields/ticks'
import { afterPrefix } from '../src/repositories/name-range'
import { receiptOf } from '../src/repositories/queues/settle/receipts'
import { stopwatch } from './support/timing'

const NAMES = Array.from({ length: 60 }, (_, n) => `visibilityTimeoutSeconds${n}`)
const READERS: Record<string, (text: string) => unknown> = {
  name: NAME.fault,
  prefix: (text) => PREFIX.fault(text) ?? afterPrefix(text),
  'table prefix': TABLE_PREFIX.fault,
  id: (text) => ID.wire?.read(text),
  position: (text) => POSITION.wire?.read(text),
  cursor: (text) => CURSOR.wire?.read(text),
  time: (text) => TIME.wire?.read(text),
  'time zone': timeZoneFault,
  key: partsOf,
  receipt: (text) => receiptOf(1n, text),
  option: (text) => unknownDetail('is not known', text, NAMES),
}

/** Any, and a few characters again and again: the food of an expression that goes back. Two million of them show it. */
const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('0', '9', '00', ':', '.', 'Z', 'rk_', '_', '-', '/', ' ', '\u{10ffff}', '\ud800', 'a', 'é'),
)
const text = fc.tuple(piece, piece, fc.constantFrom(1, 30, 191, 50_000)).map(([a, b, times]) => a.repeat(times) + b)

test.each(Object.entries(READERS))('a %s', (_, read) => {
  read('warm')
  fc.assert(
    fc.property(text, (given) => {
      const watch = stopwatch()
      read(given)
      expect(watch.isBeyond(100)).toBe(false)
    }),
    { numRuns: 300 },
  )
})
