import { parseQuery } from '../../src/http/input/query'

const parsed = (target: string) => {
  const { values, faults } = parseQuery(target)
  return { values: Object.fromEntries(values), faults }
}

describe('a query string', () => {
  test('is decoded, in the order given, nothing merged', () => {
    expect(parsed('/x?a=1&b=%C3%BC&a=2&c=a+b%2Bc&d&e==&&')).toEqual({
      values: { a: ['1', '2'], b: ['ü'], c: ['a b+c'], d: [''], e: ['='] },
      faults: [],
    })
    expect(parsed('/x')).toEqual({ values: {}, faults: [] })
    expect(parsed('/x?')).toEqual({ values: {}, faults: [] })
  })

  test('is refused where it is not UTF-8', () => {
    const detail = 'has percent-encoding that is not UTF-8'
    expect(parsed('/x?a=%ff&b=1').faults).toEqual([{ parameter: 'a', detail }])
    expect(parsed('/x?a=%E0%A4').faults).toEqual([{ parameter: 'a', detail }])
    expect(parsed('/x?a=%ED%A0%80').faults).toEqual([{ parameter: 'a', detail }])
    expect(parsed('/x?%zz=1').faults).toEqual([{ parameter: '%zz', detail }])
  })

  test('may have names that objects have anyway', () => {
    expect([...parseQuery('/x?__proto__=1&constructor=2').values]).toEqual([
      ['__proto__', ['1']],
      ['constructor', ['2']],
    ])
  })
})
