/** What `recentn/client` exports: how many names, and that one which `recentn` has too is the same. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compilerErrors, USER_OPTIONS } from '../support/compiled'
import { ROOT } from '../support/processes'

const MAX_CLIENT_NAMES = 60
/** Shapes that differ: a client has no pollers' options, and its handles have what it has besides the library. */
const OWN = ['QueueHandle', 'GroupHandle', 'FeedHandle', 'ConsumeOptions', 'WorkOptions']

/** The exported names of a module of the build, and of those that it exports as a whole. */
function namesOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) => list.split(','))
  const declared = [
    ...text.matchAll(/^export (?:declare )?(?:abstract )?(?:class|interface|type|function|const) (\w+)/gm),
  ]
  const whole = [...text.matchAll(/^export (?:type )?\* from '(.*)'/gm)].flatMap(([, from = '']) => {
    const path = join(dirname(file), from)
    return namesOf(existsSync(`${path}.d.ts`) ? `${path}.d.ts` : join(path, 'index.d.ts'))
  })
  const names = listed.map((name) =>
    name
      .trim()
      .replace(/^type /, '')
      .replace(/^\w+ as /, ''),
  )
  return [...new Set([...names.filter(Boolean), ...declared.map(([, name = '']) => name), ...whole])].sort()
}

/** What the compiler says of a program that has both modules. */
const compiled = (program: string) => {
  const imports = `import type * as recentn from 'recentn'\nimport type * as client from 'recentn/client'\n`
  return compilerErrors({ ...USER_OPTIONS, skipLibCheck: true }, ['names.ts'], { 'names.ts': imports + program })
}

const clientNames = namesOf(join(ROOT, 'dist/src/client/index.d.ts'))

test(`recentn/client has at most ${MAX_CLIENT_NAMES} names, all of which the compiler knows`, async () => {
  expect(clientNames.length).toBeLessThanOrEqual(MAX_CLIENT_NAMES)
  expect(clientNames).toEqual(expect.arrayContaining(['Client', 'createClient', 'Item', 'RecentnError', 'WorkOptions']))
  expect(await compiled(`export type { ${clientNames.join(', ')} } from 'recentn/client'\n`)).toBe('')
})

test('a name that recentn and recentn/client have is of one type', async () => {
  const known = namesOf(join(ROOT, 'dist/src/index.d.ts'))
  const both = clientNames.filter((name) => known.includes(name))
  const values = ['RecentnError', 'UnrecoverableError']
  const same = both
    .filter((name) => !OWN.includes(name))
    .map((name) => `export const a${name}: Is<recentn.${name}, client.${name}> = true`)
  const program = `type Is<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : 'another'
${same.join('\n')}
`
  expect(both).toEqual(expect.arrayContaining([...values, 'Item', 'Message', 'Changes', 'Group', ...OWN]))
  expect(await compiled(program)).toBe('')
  expect(await compiled(`${program}export const other: Is<recentn.Item, client.Message> = true\n`)).toContain(
    '"another"',
  )
})
