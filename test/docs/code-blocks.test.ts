/**
 * Every code block of every page: TypeScript compiles against the public surface, as it is on the page; what is in another
 * language parses, and its SQL names tables and indexes that there are. `printed.test.ts` and `requests.test.ts` run the
 * blocks whose output a page shows.
 *
 * A TypeScript block is a separate module. The names that it uses without declaring them are in `support/names.d.ts`, and packages
 * that are not installed here are in `support/packages.d.ts`.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { openStore } from 'recentn'
import { ROOT } from '../support/processes'
import { compilerSays } from './support/compiler'
import { BLOCKS, type Block, hasTools } from './support/pages'

const DECLARATIONS = ['names.d.ts', 'packages.d.ts'].map((file) => join(__dirname, 'support', file))

const in_ = (...languages: string[]) => BLOCKS.filter(({ language }) => languages.includes(language))
/** Without the programs that test/adapters compiles with their packages, and runs. */
const modules = in_('ts').filter(({ mark }) => mark !== 'program')
const where = ({ page, line }: Block) => `${page}:${line}`
const titled = (blocks: readonly Block[]) => blocks.map((block): [string, Block] => [where(block), block])

/** Languages that a test below, or in a file beside this one, looks at; the others are read by people only. */
const CHECKED = ['ts', 'js', 'sh', 'python', 'sql', 'json', 'yaml', 'php']
const READ = ['text', 'mermaid', 'nginx', 'ini', 'dockerfile', 'prisma']

test('every block says what language it is in', () => {
  const others = BLOCKS.filter(({ language }) => ![...CHECKED, ...READ].includes(language))
  expect(others.map(where)).toEqual([])
})

test('TypeScript compiles', async () => {
  const folder = tryFolder()
  try {
    // The compiler must find the one that is wrong, and nothing else.
    const wrong: Block = { ...(modules[0] as Block), line: 1, code: 'store.groups.apend("article:42")' }
    const said = await compilerSays(folder, [...modules, wrong], DECLARATIONS)
    expect(said).toMatch(/^README\.md:1: .*'apend' does not exist[^\n]*\n$/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Within the project, so that the blocks find its packages. */
function tryFolder(): string {
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  return mkdtempSync(join(ROOT, '.cache', 'code-blocks-'))
}

test.each(titled(in_('js')))('%s is JavaScript', (_where, { code }) => {
  expect(() => transformSync(code, { loader: 'js', logLevel: 'silent' })).not.toThrow()
})

test.each(titled(in_('json')))('%s is JSON, as a whole or line by line', (_where, { code }) => {
  const texts = code.startsWith('{\n') ? [code] : code.split('\n')
  for (const text of texts) expect(() => JSON.parse(text)).not.toThrow()
})

test.each(titled(in_('yaml')))('%s looks like YAML', (_where, { code }) => {
  const strange = code
    .split('\n')
    .filter((line) => !/^(?:(?: {2})*(?:#.*|(?:- )*(?:[\w./-]+:(?: .*)?|[^\s:]+)))?$/.test(line) && line !== '---')
  expect(strange).toEqual([])
})

test.each(titled(in_('sh')))('%s is a shell script', (_where, { code }) => {
  const { stderr } = spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' })
  expect(stderr).toBe('')
})

/** CI fails without it. */
const testPython = hasTools('python3') || process.env.CI ? test : test.skip

testPython.each(titled(in_('python')))('%s is Python (where python3 is)', (_where, { code }) => {
  const script = 'import ast, sys; ast.parse(sys.stdin.read())'
  const { stderr } = spawnSync('python3', ['-c', script], { input: code, encoding: 'utf8' })
  expect(stderr).toBe('')
})

test('SQL names tables and indexes that there are', async () => {
  const store = await openStore({ url: 'sqlite::memory:', sweep: false, publish: false })
  const rows: { name: string }[] = await store.dataSource.query('SELECT name FROM sqlite_master')
  await store.close()
  const there = new Set(rows.map(({ name }) => name))
  // A column that the statement itself makes.
  there.add('recentn_number')
  for (const procedure of ['recentn_send', 'recentn_append']) there.add(procedure)
  const missing = in_('sql').flatMap((block) =>
    [...block.code.matchAll(/\brecentn_\w+/g)]
      .filter(([name]) => !there.has(name))
      .map(([name]) => `${where(block)} ${name}`),
  )
  expect(missing).toEqual([])
})

test.each(titled(in_('sql')))('the parentheses and quotes of %s are closed', (_where, { code }) => {
  const bare = code.replaceAll(/--.*$/gm, '').replaceAll(/'[^'\n]*'/g, '')
  expect(bare).not.toContain("'")
  expect(bare.split('(')).toHaveLength(bare.split(')').length)
})
