/**
 * pg-boss on PostgreSQL. Its own worker asks at most twice a second, so the receivers here are loops around `fetch` and
 * `complete`, which is how one gets the most out of it.
 */
import PgBoss from 'pg-boss'
import { BATCH, QUEUE, RECEIVERS } from '../../queue-load/sizes'
import type { QueueContender, Urls, Work, WorkQueue } from '../../types'
import { withPostgres } from './postgres'

const SCHEMA = 'pgboss'
const IDLE_MS = 5

async function open(urls: Urls): Promise<WorkQueue> {
  const url = urls.postgres as string
  await withPostgres(url, (client) => client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`))
  const boss = new PgBoss({ connectionString: url, schema: SCHEMA, supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue(QUEUE)
  return {
    send: (letter) => boss.send(QUEUE, letter),
    sendMany: (letters) => boss.insert(letters.map((data) => ({ name: QUEUE, data }))),
    work: async (handle, fault) => receivers(boss, handle, fault),
    rested: () => withPostgres(url, (client) => client.query('VACUUM ANALYZE')),
    // Jobs that are done stay for a while, as such.
    left: () =>
      withPostgres(url, async (client) => {
        const { rows } = await client.query(`SELECT count(*) AS count FROM ${SCHEMA}.job WHERE state <> 'completed'`)
        return Number(rows[0]?.count)
      }),
    close: () => boss.stop({ graceful: false, wait: true }),
  }
}

function receivers(boss: PgBoss, handle: (letter: unknown) => void, fault: (text: string) => void): Work {
  let stopping = false
  const loop = async () => {
    while (!stopping) {
      const jobs = await boss.fetch<object>(QUEUE, { batchSize: BATCH })
      await Promise.all(jobs.map(async ({ data }) => handle(data)))
      const ids = jobs.map(({ id }) => id)
      if (ids.length > 0) await boss.complete(QUEUE, ids)
      else await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    }
  }
  const running = Promise.all(Array.from({ length: RECEIVERS }, loop)).catch((error: Error) => fault(error.message))
  return {
    stop: async () => {
      stopping = true
      await running
    },
  }
}

export const pgBoss: QueueContender = {
  name: 'pg-boss',
  title: 'pg-boss',
  server: 'postgres',
  how: `send and insert; ${RECEIVERS} loops of fetch and complete in batches of ${BATCH}`,
  open,
}
