import { NameSet } from '../../src/cli/name-set'

describe('a set of names', () => {
  it('knows each name once, also after it has grown', () => {
    const names = new NameSet()
    for (let n = 0; n < 50_000; n++) expect(names.add(`/page/${n}`)).toBe(true)
    for (let n = 0; n < 50_000; n++) expect(names.add(`/page/${n}`)).toBe(false)
    expect(names.size).toBe(50_000)
    expect(names.has('/page/49999')).toBe(true)
    expect(names.has('/page/50000')).toBe(false)
  })
})
