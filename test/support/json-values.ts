/** JSON that is easily changed on its way into a database and back: of payloads and bodies alike it must come back as it was. */

/** Values, each with what they are; null is not among them, which a payload takes for none. */
export const JSON_VALUES: [what: string, value: unknown][] = [
  ['a __proto__ key', JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":null},"toString":0}')],
  ['NUL in strings and keys', { a: 'x\u0000y', '\u0000': '\u0000' }],
  [
    'what SQL or a charset could trip over',
    ["'", '"', '\\', '\n\r\t\b\f', '\u001a', '\u2028', '😀\ufeff', '?', ':a', '%s', '--'],
  ],
  ['numbers', [0, -1, 1.5, 1e308, 5e-324, 9007199254740991, -1e-7]],
  ['false', false],
  ['zero', 0],
  ['an empty string', ''],
  ['an empty array', []],
  ['an empty object', {}],
  ['an empty key, and key order', { b: 1, '': 2, a: 3 }],
  ['nulls inside', { a: null, b: [null] }],
  ['text that looks like a date', '2026-01-01T00:00:00.000Z'],
  ['text that looks like JSON', '{"a":1}'],
]

/** Texts, for what passes them on as they are written. */
export const JSON_TEXTS = [
  'null',
  'true',
  '0',
  '""',
  '[]',
  '{}',
  '"a\\u0000b"',
  '{"__proto__":{"x":1},"constructor":null,"toString":"s"}',
  '{"\\u0000":"\\u0000"}',
  '[[[[1.5,-2]]]]',
  '"ü 日本 😀"',
  '9007199254740993',
  '[1.0,-0,1e2,1e400,-1e400]',
  '{"n":123456789012345678901234567890.000}',
]
