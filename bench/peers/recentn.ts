/** recentn itself, through its public surface: `store.groups`, and RecentRepository for the way without batching. */

import { rmSync } from 'node:fs'
import { createConnection } from 'mysql2/promise'
import { openStore, type Store } from '../../src'
import { RecentRepository } from '../../src/typeorm'
import { WINDOW } from '../items'
import type { Contender, OpenRing, Ring } from '../types'

const DATABASE = 'recentn_bench'

/** The database's URL under the server's. */
export function databaseUrl(engine: string): string {
  if (engine.startsWith('sqlite:')) return engine
  const url = new URL(engine)
  url.pathname = `/${DATABASE}`
  return url.toString()
}

export async function freshDatabase(engine: string): Promise<void> {
  if (engine.startsWith('sqlite:')) {
    const path = engine.slice('sqlite:'.length)
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
    return
  }
  const connection = await createConnection(engine)
  await connection.query(`DROP DATABASE IF EXISTS ${DATABASE}`)
  await connection.query(`CREATE DATABASE ${DATABASE} CHARACTER SET utf8mb4`)
  connection.destroy()
}

async function open({ urls, purpose, fresh }: OpenRing, batched: boolean): Promise<Ring> {
  if (fresh) await freshDatabase(urls.engine)
  const store = await openStore({ url: databaseUrl(urls.engine) })
  if (purpose === 'distinct' || purpose === 'top')
    await store.policies.put('article:', { capacity: WINDOW, mode: purpose })
  const groups = batched ? store.groups : new RecentRepository(store.dataSource)
  return {
    append: async (group, item) => Number((await groups.append(group, item)).id),
    appendMany: async (items) => {
      await groups.appendMany(items)
    },
    recent: async (group) => (await groups.recent(group, { limit: WINDOW })).items,
    recentMany: async (names) => {
      const answers = []
      // 100 is the most that one request takes.
      for (let at = 0; at < names.length; at += 100) {
        answers.push(...(await groups.recentMany(names.slice(at, at + 100), { limit: WINDOW })))
      }
      return answers.map((answer) => answer.items)
    },
    // What is not high enough is not taken.
    ...(purpose === 'top' ? {} : { taken: () => takenBy(store) }),
    erase: async (member) => (await groups.eraseMember(member)).deleted,
    close: () => store.close(),
  }
}

async function takenBy(store: Store): Promise<number> {
  let sum = 0n
  let after: string | undefined
  do {
    const page = await store.groups.list({ limit: 1000, prefix: 'article:', after })
    for (const { totalAppended } of page.groups) sum += totalAppended
    after = page.nextAfter ?? undefined
  } while (after !== undefined)
  return Number(sum)
}

export const recentn: Contender = {
  name: 'recentn',
  title: 'recentn',
  server: 'engine',
  how: 'store.groups of one process, pool of 10 connections',
  gapless: true,
  unsound: false,
  open: (options) => open(options, true),
}

export const unbatched: Contender = {
  ...recentn,
  name: 'unbatched',
  title: 'recentn unbatched',
  how: 'RecentRepository on the DataSource: a transaction for each append',
  open: (options) => open(options, false),
}
