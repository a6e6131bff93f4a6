/** The page of figures is what `npm run bench -- --docs` writes from the results that are kept. */
import { readFileSync } from 'node:fs'
import { FIGURES, figuresPage } from '../../bench/report/docs'

test('bench/results/figures.md shows the kept results', () => {
  const page = readFileSync(FIGURES, 'utf8')
  expect(page).toBe(figuresPage())
  expect(page).toContain('### mariadb')
})
