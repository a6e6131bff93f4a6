/** Workers and consumers of the client whose server process is killed, and comes back at the same address. */
import type { MessagePage } from '../../src/client'
import { eventually, moment } from '../support/timing'
import { counted } from './support/counted'
import { useServer } from './support/server'

const server = useServer()
const LONG_MS = 60_000
const codeOf = (error: unknown) => (error as { code?: unknown }).code

test('a worker: claims that cannot be kept are lost, and when the server is back all the work is done', async () => {
  const mail = server.client.queue<number>('mail')
  await mail.put()
  await mail.sendMany(Array.from({ length: 100 }, (_, body) => ({ body })))
  const [held, lost] = [moment(), moment()]
  const errors: unknown[] = []
  const handled = new Set<number>()
  const { counting, most } = counted<number>(async ({ body, receiveCount }, { signal }) => {
    handled.add(body)
    if (body !== 50 || receiveCount > 1) return
    signal.addEventListener('abort', () => lost.come())
    held.come()
    await lost.reached
  })
  const onError = (error: unknown) => errors.push(codeOf(error))
  const worker = mail.work(counting, { concurrency: 10, visibilityTimeoutSeconds: 2, onError })
  await held.reached
  await server.kill()
  await lost.reached
  await eventually(LONG_MS, 'it is reported', () => errors.length > 0)
  expect(new Set(errors)).toEqual(new Set(['unreachable']))
  await server.start()
  const pages = (): Promise<MessagePage[]> =>
    Promise.all((['ready', 'in-flight', 'delayed', 'dead'] as const).map((state) => mail.peek({ state })))
  await eventually(LONG_MS, 'nothing is left', async () => {
    // Twice: a message may move on between two looks.
    return [...(await pages()), ...(await pages())].every(({ messages }) => messages.length === 0)
  })
  await worker.stop()
  expect([handled.size, most.ofOne]).toEqual([100, 1])
}, 180_000)

test('a consumer: continues where it was when the server is back', async () => {
  const users = server.client.feed('users')
  const written = async (key: string) => {
    await users.put(key, 1)
    await eventually(LONG_MS, 'it is published', async () => (await users.status())?.unpublished === 0)
  }
  await written('a')
  const given: string[] = []
  const errors: unknown[] = []
  const loop = users.consume('c', (changes) => given.push(...changes.map(({ key }) => key)), {
    onError: (error) => errors.push(codeOf(error)),
  })
  await eventually(LONG_MS, 'it reads', async () => (await users.cursor('c')).cursor === 1n)
  await server.kill()
  await eventually(LONG_MS, 'it is reported', () => errors.length > 0)
  await server.start()
  await written('b')
  await eventually(LONG_MS, 'it continues', () => given.length === 2)
  await loop.stop()
  expect([given, new Set(errors)]).toEqual([['a', 'b'], new Set(['unreachable'])])
}, 180_000)
