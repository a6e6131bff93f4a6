/**
 * Stores that a test has not closed. Their workers, or a pool of connections, would keep the runner from ending: what is left
 * when the tests of a file are over is closed then. jest, mocha and vitest (with `globals: true`) have a hook for it as a
 * global; a file that `node --test` runs has that of its runner.
 */
const open = new Set<{ close(): Promise<void> }>()

export function opened(store: { close(): Promise<void> }): void {
  open.add(store)
}

export function closed(store: { close(): Promise<void> }): void {
  open.delete(store)
}

async function closeLeft(): Promise<void> {
  await Promise.all([...open].map((store) => store.close()))
}

type Hook = (work: () => Promise<void>) => unknown

function hookOf(runner: { afterAll?: Hook; after?: Hook }): Hook | undefined {
  if (typeof runner.afterAll === 'function') return runner.afterAll
  if (typeof runner.after === 'function') return runner.after
  return process.env.NODE_TEST_CONTEXT === undefined ? undefined : (require('node:test') as { after: Hook }).after
}

try {
  hookOf(globalThis as Parameters<typeof hookOf>[0])?.(closeLeft)
} catch {
  // Imported in the middle of a test, where runners take no hooks.
}
