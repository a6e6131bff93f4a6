/** What the operations have in common in how they are called, and in what is made of their answers. */
import { type ErrorCode, RecentnError } from '../errors'
import type { CallOptions } from './transport'

/** Null in place of one error, which says that there is no such thing. */
export async function orNull<T>(work: Promise<T>, code: ErrorCode): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof RecentnError && error.code === code) return null
    throw error
  }
}

/** True when it is done, false in place of one error. */
export async function wasThere(work: Promise<unknown>, code: ErrorCode): Promise<boolean> {
  return (await orNull(work, code)) !== null
}

/** What is said of the call, and what is sent with it. */
export function parted<O extends CallOptions>(options: O): [Omit<O, keyof CallOptions>, CallOptions] {
  const { signal, timeoutMs, ...sent } = options
  return [sent, { signal, timeoutMs }]
}

/** Everything of a list, page by page as it is asked for. */
export async function* everyOf<T>(
  page: (after: string | undefined) => Promise<{ all: readonly T[]; nextAfter: string | null }>,
  from?: string,
): AsyncGenerator<T, void, undefined> {
  let after: string | null | undefined = from
  do {
    const { all, nextAfter }: { all: readonly T[]; nextAfter: string | null } = await page(after)
    yield* all
    after = nextAfter
  } while (after !== null)
}
