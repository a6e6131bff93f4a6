/** How many names each entry of the package has, types included: whoever adds one takes another away. */
import { join } from 'node:path'
import { ROOT, spawnScript } from '../support/processes'

test('no entry has more names than it may', async () => {
  const most = { '': 90, typeorm: 40, adapters: 12, testing: 8 }
  const files = Object.keys(most).map((entry) => join(ROOT, 'src', entry, 'index.ts'))
  const script = spawnScript('test/types/exported-names.mjs', [join(ROOT, 'tsconfig.json'), ...files])
  const names = (await script.finished) as string[][]
  expect(names.map(({ length }) => length > 0)).toEqual(files.map(() => true))
  for (const [at, [entry, bound]] of Object.entries(most).entries()) {
    expect([entry, names[at]?.slice(bound)]).toEqual([entry, []])
  }
})
