/**
 * The types that the build gives a user who has every strict flag set: above all, every optional property takes undefined
 * (exactOptionalPropertyTypes). `npm run test:package` does the same with the package, beside Express 4 and 5.
 */
import { join } from 'node:path'
import { compilerErrors, USER_OPTIONS } from '../support/compiled'
import { ROOT } from '../support/processes'

test('compile with every strict flag, and take undefined for what is optional', async () => {
  expect(await compilerErrors(USER_OPTIONS, [join(ROOT, 'test/package/types/strict.ts')])).toBe('')
})
