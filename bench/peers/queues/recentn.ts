/** recentn's own queues: `store.queues` and its worker; the same over REST, by long polls. */
import { openStore, type Store } from '../../../src'
import { startRecentn } from '../../load/http'
import { CONCURRENCY, QUEUE, RECEIVERS } from '../../queue-load/sizes'
import type { QueueContender, Urls, Work, WorkQueue } from '../../types'
import { databaseUrl, freshDatabase } from '../recentn'

const STATES = ['ready', 'in-flight', 'delayed', 'dead'] as const

export async function openStoreQueue(urls: Urls, { fresh = true } = {}): Promise<WorkQueue & { store: Store }> {
  if (fresh) await freshDatabase(urls.engine)
  const store = await openStore({ url: databaseUrl(urls.engine) })
  await store.queues.put(QUEUE, { maxReceives: null })
  return {
    store,
    send: (letter) => store.queues.send(QUEUE, letter),
    sendMany: (letters) =>
      store.queues.sendMany(
        QUEUE,
        letters.map((body) => ({ body })),
      ),
    work: async (handle, fault) =>
      store.queues.work(QUEUE, async ({ body }) => handle(body), {
        concurrency: CONCURRENCY,
        onError: (error) => fault(String(error)),
      }),
    left: async () => {
      let left = 0
      for (const state of STATES) left += (await store.queues.peek(QUEUE, { state, limit: 1000 })).messages.length
      return left
    },
    close: () => store.close(),
  }
}

async function openRest(urls: Urls): Promise<WorkQueue> {
  await freshDatabase(urls.engine)
  const server = await startRecentn(urls)
  const queue = `${server.url}/v1/queues/${QUEUE}`
  await call('PUT', queue, { maxReceives: null })
  return {
    send: (letter) => call('POST', `${queue}/messages`, { body: letter }),
    sendMany: (letters) => call('POST', `${queue}/messages`, { messages: letters.map((body) => ({ body })) }),
    work: async (handle, fault) => pollers(queue, handle, fault),
    left: async () => {
      let left = 0
      for (const state of STATES) {
        const { messages } = await call('GET', `${queue}/messages?state=${state}&limit=1000`)
        left += (messages as unknown[]).length
      }
      return left
    },
    close: () => server.stop(),
  }
}

/** Each asks again as soon as it has its answer; what it got is deleted meanwhile. */
function pollers(queue: string, handle: (letter: unknown) => void, fault: (text: string) => void): Work {
  const stopping = new AbortController()
  const settling = new Set<Promise<unknown>>()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      const answer = await call('POST', `${queue}/receive`, { limit: CONCURRENCY, waitSeconds: 20 }, stopping.signal)
      const messages = answer.messages as { body: unknown; receiptHandle: string }[]
      for (const { body } of messages) handle(body)
      if (messages.length === 0) continue
      const receiptHandles = messages.map(({ receiptHandle }) => receiptHandle)
      const settled = call('POST', `${queue}/ack`, { receiptHandles }).catch((error) => fault(String(error)))
      settling.add(settled)
      void settled.finally(() => settling.delete(settled))
    }
  }
  const running = Promise.all(
    Array.from({ length: RECEIVERS }, () =>
      loop().catch((error) => {
        if (!stopping.signal.aborted) fault(String(error))
      }),
    ),
  )
  return {
    stop: async () => {
      stopping.abort()
      await running
      await Promise.all(settling)
    },
  }
}

async function call(method: string, url: string, body?: object, signal?: AbortSignal) {
  const headers = { 'Content-Type': 'application/json' }
  const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
  const response = await fetch(url, { method, ...sent, ...(signal && { signal }) })
  if (!response.ok) throw new Error(`${method} ${url} was answered ${response.status}`)
  return (await response.json()) as Record<string, unknown>
}

export const recentnQueue: QueueContender = {
  name: 'recentn',
  title: 'recentn',
  server: 'engine',
  how: `store.queues of one process, pool of 10 connections; work with concurrency ${CONCURRENCY}`,
  open: (urls) => openStoreQueue(urls),
}

/** Where the other one's tables are full. */
export const emptyTables: QueueContender = { ...recentnQueue, name: 'empty', title: 'recentn, empty tables' }

export const rest: QueueContender = {
  name: 'rest',
  title: 'recentn over REST',
  server: 'engine',
  how: `POST, ${RECEIVERS} long polls of up to ${CONCURRENCY} messages, deleted while the next one waits`,
  open: openRest,
}
