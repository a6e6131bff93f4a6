import fc from 'fast-check'
import { timeText } from '../src/fields/answers'

test('a time is written as toISOString() writes it, whatever was written before', () => {
  const times = fc.array(fc.date({ noInvalidDate: true }), { minLength: 1, maxLength: 10 })
  const sameDay = fc
    .tuple(fc.date({ min: new Date(0), noInvalidDate: true }), fc.array(fc.integer({ min: 0, max: 86_399_999 })))
    .map(([day, offsets]) => offsets.map((ms) => new Date(Math.floor(day.getTime() / 86_400_000) * 86_400_000 + ms)))
  fc.assert(
    fc.property(fc.oneof(times, sameDay), (dates) => {
      fc.pre(dates.every((date) => !Number.isNaN(date.getTime())))
      expect(dates.map(timeText)).toEqual(dates.map((date) => date.toISOString()))
    }),
    { numRuns: 2000 },
  )
  for (const ms of [0, -1, 8.64e15, -8.64e15, 253_402_300_799_999]) {
    expect(timeText(new Date(ms))).toBe(new Date(ms).toISOString())
  }
  expect(() => timeText(new Date(Number.NaN))).toThrow(RangeError)
})
