/** The page of figures is what `npm run bench -- --docs` writes from the results that are kept. */
import { readFileSync } from 'node:fs'
import { FIGURES, figuresPage } from '../../bench/report/docs'
import { ageMark, fasterPeers, fasterTable, newestRelease } from '../../bench/report/faster'
import type { Line, Measured } from '../../bench/report/results'

test('bench/results/figures.md shows the kept results', () => {
  const page = readFileSync(FIGURES, 'utf8')
  expect(page).toBe(figuresPage())
  expect(page).toContain('### mariadb')
  expect(page).toContain('### Where others are faster')
})

describe('where others are faster', () => {
  const line = (contender: string, title: string, median: number | null, note = '') =>
    ({ contender, title, median, note }) as Line
  const measured = (lowerIsBetter: boolean, ...lines: Line[]) => ({ workload: 'w', lowerIsBetter, lines }) as Measured
  const ours = line('recentn', 'recentn', 100)

  it('names each peer with a better figure, the best first', () => {
    const peers = [line('a', 'A', 150), line('b', 'B', 99), line('c', 'C', 400), line('d', 'D', null)]
    expect(fasterPeers(measured(false, ours, ...peers))).toEqual([
      { peer: 'C', factor: 4 },
      { peer: 'A', factor: 1.5 },
    ])
    expect(fasterPeers(measured(true, ours, ...peers)).map(({ peer }) => peer)).toEqual(['B'])
  })

  it('names neither the limit, nor recentn in another way, nor what was not correct', () => {
    const others = [
      line('limit', 'the limit', 900),
      line('x', 'recentn over REST', 900),
      line('y', 'Y', 900, 'NOT CORRECT: 3'),
    ]
    expect(fasterPeers(measured(false, ours, ...others))).toEqual([])
    const results = { engine: 'mariadb', measured: [measured(false, ours, ...others)] } as const
    expect(fasterTable([{ title: 'mariadb', results: { ...results, measured: [...results.measured] } }])).toBe(
      'Nowhere.',
    )
  })
})

it('marks figures that are older than the newest release', () => {
  const release = newestRelease('## [Unreleased]\n\n## [0.3.0] - 2026-12-01\n\n## [0.2.0] - 2026-11-01\n')
  expect(release).toEqual({ version: '0.3.0', date: '2026-12-01' })
  expect(ageMark({ date: '2026-11-30T23:59:59Z' }, release)).toBe(' (before 0.3.0)')
  expect(ageMark({ date: '2026-12-01T00:00:00Z' }, release)).toBe('')
  expect(newestRelease('## [Unreleased]\n')).toBeNull()
})
