/** A server of streams with tight limits, for a test file: nothing may be left of it, and nothing reported. */

import { createApp, messagesOf } from '../../../src/http/process/app'
import type { Store } from '../../../src/store/types'
import { openedOf } from '../../support/opened'
import { type Client, clientOf, memoryStore, serving } from './client'
import { closeStreams, eventually } from './streams'

const limits = { maxStreams: 5, heartbeatMs: 300, stallMs: 3000 }

export interface StreamServer {
  store: Store
  server: Client
  /** Another one, of another store. */
  served(of: Store, more?: object): Promise<Client>
}

/** How many groups of the store have listeners. */
export const watchedOf = (of: Store) => openedOf(of).groups.streams.watched

export function useStreamServer(): StreamServer {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  const problems: unknown[] = []
  const serve = async (of: Store, more: object = {}) => {
    const onError = (error: unknown) => void problems.push(error)
    const app = createApp(of, { allowAnonymous: false, streams: limits, onError, ...more })
    return clientOf(await serving(app, messagesOf(app)))
  }
  const used = { served: serve } as StreamServer
  beforeAll(async () => {
    process.on('warning', onWarning)
    used.store = await memoryStore()
    used.server = await serve(used.store)
  })
  afterEach(async () => {
    closeStreams()
    await eventually('every stream to be freed', () => watchedOf(used.store) === 0)
  })
  afterAll(() => {
    process.off('warning', onWarning)
    expect([warnings, problems]).toEqual([[], []])
  })
  return used
}
