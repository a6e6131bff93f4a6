/**
 * An array that is spread into arguments is a RangeError when it has more than some 120,000 elements, which a client may
 * bring about. No source of the server or the library does it: what is added to a list is added one by one.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const SOURCES = join(__dirname, '../../src')
const SPREAD = /\.(?:push|unshift|max|min|apply|fromCharCode)\([^()]*\.\.\.|\.(?:push|max|min)\(\.\.\./

test('no source spreads a list into arguments', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('dashboard'),
  )
  expect(files.length).toBeGreaterThan(200)
  const found: string[] = []
  for (const file of files) {
    const lines = readFileSync(join(SOURCES, file), 'utf8').split('\n')
    // An object that is spread into one argument is another thing.
    for (const [n, line] of lines.entries()) {
      if (SPREAD.test(line.replaceAll(/\{[^{}]*\}/g, ''))) found.push(`${file}:${n + 1}`)
    }
  }
  expect(found).toEqual([])
})
