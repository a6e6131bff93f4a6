import { NameSet } from '../../src/cli/name-set'

describe('a set of names', () => {
  it('knows each name once, also after it has grown', () => {
    const names = new NameSet()
    const addAll = () => Array.from({ length: 50_000 }, (_, n) => names.add(`/page/${n}`))
    expect(new Set(addAll())).toEqual(new Set([true]))
    expect(new Set(addAll())).toEqual(new Set([false]))
    expect(names.size).toBe(50_000)
    expect(names.has('/page/49999')).toBe(true)
    expect(names.has('/page/50000')).toBe(false)
  })
})
