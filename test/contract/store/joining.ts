import type { DataSource } from 'typeorm'
import { attachStore, type Store } from '../../../src/index'
import { type Context, eventually, idsOf, userSource } from '../context'

export const boom = new Error('boom')
export const INSERT = 'INSERT INTO ambient_notes (note) VALUES (?)'

export const quietOn = ({ clock }: Context) => ({
  sweep: false,
  publish: false,
  tick: false,
  clockOffsetMs: () => clock.offsetMs,
})

export const until = (isSo: () => boolean | Promise<boolean>) => eventually(10_000, 'it is so', isSo)

/** A DataSource of a user's, a store on it that joins its transactions, and one that does not. */
export interface Joining {
  source(): DataSource
  store(): Store
  refusing(): Store
  isNoted(note: string): Promise<boolean>
  /** How many items the group has, outside of all transactions. */
  idsIn(group: string): Promise<number>
}

/** Registers the hooks that open and close it. */
export function useJoining(context: Context): Joining {
  let source: DataSource
  let store: Store
  let refusing: Store
  beforeAll(async () => {
    source = userSource(context.url)
    await source.initialize()
    await source.query('CREATE TABLE ambient_notes (note varchar(100) NOT NULL PRIMARY KEY)')
    store = await attachStore(source, { ...quietOn(context), join: 'ambient' })
    refusing = await attachStore(source, quietOn(context))
  })
  afterAll(async () => {
    await Promise.all([store.close(), refusing.close()])
    await source.destroy()
  })
  return {
    source: () => source,
    store: () => store,
    refusing: () => refusing,
    isNoted: async (note) =>
      (await context.store.dataSource.query('SELECT note FROM ambient_notes WHERE note = ?', [note])).length === 1,
    idsIn: async (group) => idsOf(await context.store.groups.recent(group)).length,
  }
}
