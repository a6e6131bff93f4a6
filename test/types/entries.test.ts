/** How many names each entry of the package has, types included: whoever adds one takes another away. */
import { join } from 'node:path'
import { compilerErrors, USER_OPTIONS } from '../support/compiled'
import { ROOT, spawnScript } from '../support/processes'

const MOST = { '': 90, typeorm: 40, adapters: 12, client: 60, testing: 8 }

let names: string[][]

beforeAll(async () => {
  const files = Object.keys(MOST).map((entry) => join(ROOT, 'src', entry, 'index.ts'))
  const script = spawnScript('test/types/exported-names.mjs', [join(ROOT, 'tsconfig.json'), ...files])
  names = (await script.finished) as string[][]
})

test('no entry has more names than it may', () => {
  expect(names.map(({ length }) => length > 0)).toEqual(Object.keys(MOST).map(() => true))
  for (const [at, [entry, bound]] of Object.entries(MOST).entries()) {
    expect([entry, names[at]?.slice(bound)]).toEqual([entry, []])
  }
})

test('a name that recentn and recentn/client have is of one type', async () => {
  const [recentn = [], , , client = []] = names
  const both = client.filter((name) => recentn.includes(name))
  expect(both).toEqual(expect.arrayContaining(['RecentnError', 'Item', 'Message', 'Changes', 'Handler', 'QueueHandle']))
  const same = both.map((name) => `Is<recentn.${name}, client.${name}>`)
  const errorsOf = (types: string[]) =>
    compilerErrors({ ...USER_OPTIONS, skipLibCheck: true }, ['names.ts'], {
      'names.ts': `import type * as recentn from 'recentn'
import type * as client from 'recentn/client'
type Is<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : 'another'
export type All<_ extends true[] = [${types.join(', ')}]> = never
`,
    })
  expect(await errorsOf(same)).toBe('')
  expect(await errorsOf([...same, 'Is<recentn.Item, client.Message>'])).toContain('"another"')
})
