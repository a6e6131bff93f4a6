/** JSON texts for property tests of how bodies are read. */
import fc from 'fast-check'

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
