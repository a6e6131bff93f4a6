/** JSON texts for property tests of how bodies are read, and what it is that two ways of reading agree. */
import fc from 'fast-check'
import type { Fault } from '../../../src/errors'
import type { JsonBody } from '../../../src/http/input/body'

/** JSON texts, among them what JSON.parse rounds, what it keeps from no prototype, and what a rule refuses. */
const number = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1.0',
    '1.50',
    '1e2',
    '1E-7',
    '1e400',
    '-1e400',
    '12345678901234567890',
    '0.1234567890123456',
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.integer().map(String),
)
/** Any UTF-16 units, lone surrogates and control characters among them. */
const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0xd800, 0xdfff, 0x1f, 0x41)))
export const anyString = fc.oneof(
  units.map((codes) => JSON.stringify(String.fromCharCode(...codes))),
  fc.constantFrom('""', '"."', '".."', '"\\ud800"', '"\\u0000"', '"\\u0085"', '" a"', `"${'é'.repeat(40_000)}"`),
  fc.integer({ min: 189, max: 193 }).chain((n) => fc.constantFrom(`"${'a'.repeat(n)}"`, `"${'😀'.repeat(n)}"`)),
)
export const time = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => JSON.stringify(date)),
  fc.constantFrom(
    '"1970-01-01T00:00:00Z"',
    '"1969-12-31T23:59:59.9Z"',
    '"2026-02-29T00:00:00Z"',
    '"9999-12-31T23:59:59.999-01:00"',
  ),
  fc.constantFrom(
    '"2026-11-21t10:00:00.1239999+05:30"',
    '"2026-11-21"',
    '"2026-11-21T24:00:00Z"',
    '"2026-11-21T10:00:00.120Z"',
  ),
)
const nested = fc.integer({ min: 62, max: 66 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth))
const space = fc.constantFrom('', '', '', ' ', '\n\t ')
export const key = fc.oneof(
  fc.constantFrom('"__proto__"', '"constructor"', '"toString"', '"toJSON"', '"payload"', '"member"', '"\\udc00"'),
  fc.string().map((text) => JSON.stringify(text)),
)
const list = (element: fc.Arbitrary<string>) =>
  fc.tuple(fc.array(element, { maxLength: 4 }), space).map(([texts, gap]) => `[${gap}${texts.join(`,${gap}`)}${gap}]`)
export const object = (keyText: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.array(fc.tuple(keyText, value), { maxLength: 5 }), space)
    .map(([members, gap]) => `{${gap}${members.map(([k, v]) => `${k}${gap}:${gap}${v}`).join(`,${gap}`)}${gap}}`)
export const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('null', 'true', 'false'),
    number,
    anyString,
    nested,
    list(tie('json')),
    object(key, tie('json')),
  ),
}))

export const name = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[a-z:é😀]{1,12}$/u).map((s) => JSON.stringify(s)) },
  {
    weight: 1,
    arbitrary: anyString,
  },
)
/** A body as it is read from the wire, and as a parser of the surrounding app leaves it. */
function bodiesOf(text: string): JsonBody[] {
  return [
    { value: JSON.parse(text), text },
    { value: JSON.parse(text), text: null },
  ]
}

/** Both ways to read a body agree: the quick one is sure exactly where the DTO finds no fault, and reads the same. */
export function agree<T>(quick: T | null, slow: (faults: Fault[]) => T, read: (faults: Fault[]) => T): boolean {
  const faults: Fault[] = []
  const expected = slow(faults)
  if (faults.length === 0) expect(quick).toStrictEqual(expected)
  else expect(quick).toBeNull()
  const told: Fault[] = []
  const given = read(told)
  expect(told).toEqual(faults)
  if (faults.length === 0) expect(given).toStrictEqual(expected)
  return faults.length === 0
}

/** Checks that two ways of reading agree on many texts, and that neither verdict is rare: else it says little. */
export function expectAgreeing(
  text: fc.Arbitrary<string>,
  agrees: (body: JsonBody) => boolean,
  { texts, valid: [moreThan, lessThan] }: { texts: number; valid: [moreThan: number, lessThan: number] },
): void {
  let valid = 0
  const property = fc.property(text, (one) => {
    for (const body of bodiesOf(one)) if (agrees(body)) valid++
  })
  fc.assert(property, { numRuns: texts })
  expect(valid).toBeGreaterThan(moreThan)
  expect(valid).toBeLessThan(lessThan)
}
