import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compilerSays } from '../docs/support/compiler'
import { blocksOf } from '../docs/support/pages'
import { ROOT } from '../support/processes'
import { describeApps } from './support/apps'
import { PROGRAMS, programsFolder } from './support/programs'

test('the programs of the pages fit the types of their libraries', async () => {
  expect(PROGRAMS.length).toBeGreaterThanOrEqual(7)
  expect(await compilerSays(programsFolder(), PROGRAMS)).toBe('')
})

test('the page of Prisma has the model that its client is generated from', () => {
  const [model] = blocksOf('docs/how-to/prisma.md')
  expect(readFileSync(join(ROOT, 'test/adapters/prisma/mysql.prisma'), 'utf8')).toContain(model?.code)
})

describeApps()
