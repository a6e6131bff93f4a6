/** Each test of a file has its own queue, and workers that are stopped at its end. */
import type { Running } from '../../../src/client'
import type { useServer } from './server'

export const AT_ONCE = { minSeconds: 0, maxSeconds: 0 }
export const LONG_MS = 30_000

export const numbers = (length: number, from = 0) => Array.from({ length }, (_, n) => from + n)

export function useQueue(server: ReturnType<typeof useServer>, prefix: string) {
  const workers: Running[] = []
  let count = 0
  const used = {
    name: '',
    workers,
    sendNumbers: (length: number, from = 0) =>
      server.client.queues.sendMany(
        used.name,
        numbers(length, from).map((body) => ({ body })),
      ),
  }
  beforeEach(async () => {
    used.name = `${prefix}-${++count}`
    await server.client.queues.put(used.name)
  })
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop({ timeoutSeconds: 0 })))
  })
  return used
}
