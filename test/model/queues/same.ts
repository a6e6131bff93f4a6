/** How answers are compared. */
import { isDeepStrictEqual } from 'node:util'
import { RecentnError } from '../../../src/index'

/** As `toEqual`, and much faster where it is so. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

export async function expectRefusal(refused: Promise<unknown>, codes: readonly string[]): Promise<void> {
  const code = await refused.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof RecentnError) return error.code
      throw error
    },
  )
  expectSame(codes.includes(code) ? code : codes, code)
}
