/** The hooks of a file of tests that has one database, one store on it, and a folder for what its processes write. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openStore, type Store, type StoreOptions } from '../../src'
import { type Database, type EngineName, freshDatabase } from './engines'

export interface StoreAndFolder {
  store: Store
  url: string
  folder: string
}

/** Call it in a `describe`; what it answers is filled before the first test. */
export function useStore(engine: EngineName, name: string, options: StoreOptions = {}): StoreAndFolder {
  const answer = {} as StoreAndFolder
  let database: Database | undefined

  beforeAll(async () => {
    answer.folder = mkdtempSync(path.join(tmpdir(), `recentn-${name}-`))
    database = await freshDatabase(engine)
    answer.url = database.url
    answer.store = await openStore({ ...options, url: database.url })
  })

  afterAll(async () => {
    await answer.store?.close()
    await database?.drop()
    rmSync(answer.folder, { recursive: true, force: true })
  })

  return answer
}
