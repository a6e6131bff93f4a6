import { jsonLine, printable } from '../../src/cli/printed'

test('what would control a terminal, or turn the order of a text, is escaped, in tables and in JSON', () => {
  expect(printable('a\u001b[31m\u009b1m\u202eb\u2066\u2028c\u2029\u200b\u{e0041}ü😀')).toBe(
    'a\\x1b[31m\\x9b1m\\u{202e}b\\u{2066}\\u{2028}c\\u{2029}\\u{200b}\\u{e0041}ü😀',
  )
  const value = { error: '\u001b\u007f\u009b2J' }
  expect(jsonLine(JSON.stringify(value))).toBe('{"error":"\\u001b\\u007f\\u009b2J"}\n')
  expect(JSON.parse(jsonLine(JSON.stringify(value)))).toEqual(value)
})
