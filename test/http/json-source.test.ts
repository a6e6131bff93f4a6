import fc from 'fast-check'
import { elementStarts, hasUnusualNumber, memberStart, valueSource } from '../../src/http/input/json-source'

const memberSource = (text: string, name: string) => {
  const start = memberStart(text, 0, name)
  return start < 0 ? null : valueSource(text, start)
}

describe('the source of a payload', () => {
  test.each([
    ['12345678901234567890'],
    ['0.12345678901234567'],
    ['123456789.123456789'],
    ['1e400'],
    ['1E-7'],
    ['0.0000001'],
    ['[-0.0000005]'],
    ['2e+5'],
    ['-0'],
    ['[1, -0]'],
    ['[-0.0]'],
    ['1.0'],
    ['{"a":1.50}'],
  ])('is wanted for %s', (number) => {
    expect(hasUnusualNumber(`{"payload":${number}}`)).toBe(true)
    expect(hasUnusualNumber(number)).toBe(true)
  })

  test.each(['1', '-1', '1.25', '0.000001', '123456789012345', '-0.5', '"2026-01-02T03:04:05Z"', '"-1"'])(
    'is not wanted for %s',
    (text) => {
      expect(JSON.stringify(JSON.parse(text))).toBe(text)
      expect(hasUnusualNumber(`{"payload": ${text}}`)).toBe(false)
    },
  )

  test('is the source text, without white space between tokens', () => {
    const text =
      ' { "a" : 1 , "payload" : { "big" : 12345678901234567890 , "s" : " a \\" , } \\\\" , "l" : [ -0 , 1e2 ] } , "z":[]} '
    expect(memberSource(text, 'payload')).toBe('{"big":12345678901234567890,"s":" a \\" , } \\\\","l":[-0,1e2]}')
    expect(memberSource(text, 'a')).toBe('1')
    expect(memberSource(text, 'z')).toBe('[]')
    expect(memberSource(text, 'big')).toBeNull()
  })

  test('is the last one of a repeated name, however the name is escaped', () => {
    expect(memberSource('{"payload":1,"p\\u0061yload":2.0}', 'payload')).toBe('2.0')
  })

  test('is found in each element of a list', () => {
    const text = '{"items":[ {"payload":1.0} ,{"group":"]"},[1,[2]], "x" , {"payload":{"items":[]}}],"n":1}'
    const starts = elementStarts(text, memberStart(text, 0, 'items'))
    expect(starts.map((at) => valueSource(text, at))).toEqual([
      '{"payload":1.0}',
      '{"group":"]"}',
      '[1,[2]]',
      '"x"',
      '{"payload":{"items":[]}}',
    ])
    expect(elementStarts('[]', 0)).toEqual([])
    expect(elementStarts('{}', 0)).toEqual([])
  })

  test('agrees with JSON.parse on any JSON, pretty or not', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.constantFrom(0, 2, '\t'), (before, payload, space) => {
        const text = JSON.stringify({ before, payload, after: [payload, { payload }] }, null, space)
        expect(memberSource(text, 'payload')).toBe(JSON.stringify(payload))
        const elements = elementStarts(text, memberStart(text, 0, 'after'))
        expect(elements.map((at) => valueSource(text, at))).toEqual([
          JSON.stringify(payload),
          JSON.stringify({ payload }),
        ])
      }),
    )
  })
})
