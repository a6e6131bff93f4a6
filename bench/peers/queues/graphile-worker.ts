/** Graphile Worker on PostgreSQL, set up as its documentation advises for throughput: local queue, batched completion. */
import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker'
import pg from 'pg'
import { BATCH, CONCURRENCY, QUEUE } from '../../queue-load/sizes'
import type { QueueContender, Urls, Work, WorkQueue } from '../../types'
import { withPostgres } from './postgres'

const SCHEMA = 'graphile_worker'
const CONNECTIONS = 10
const silent = new Logger(() => () => {})

async function open(urls: Urls): Promise<WorkQueue> {
  const url = urls.postgres as string
  await withPostgres(url, (client) => client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`))
  const pgPool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
  pgPool.on('error', () => {})
  pgPool.on('connect', (client) => client.on('error', () => {}))
  await runMigrations({ pgPool, schema: SCHEMA, logger: silent })
  const utils = await makeWorkerUtils({ pgPool, schema: SCHEMA, logger: silent })
  return {
    send: (letter) => utils.addJob(QUEUE, letter),
    sendMany: (letters) => utils.addJobs(letters.map((payload) => ({ identifier: QUEUE, payload }))),
    work: (handle, fault) => work(pgPool, handle, fault),
    rested: () => withPostgres(url, (client) => client.query('VACUUM ANALYZE')),
    left: () =>
      withPostgres(url, async (client) => {
        const { rows } = await client.query(`SELECT count(*) AS count FROM ${SCHEMA}._private_jobs`)
        return Number(rows[0]?.count)
      }),
    close: async () => {
      await utils.release()
      await pgPool.end()
    },
  }
}

async function work(pgPool: pg.Pool, handle: (letter: unknown) => void, fault: (text: string) => void): Promise<Work> {
  const runner = await run({
    pgPool,
    schema: SCHEMA,
    logger: silent,
    noHandleSignals: true,
    parsedCronItems: [],
    taskList: { [QUEUE]: async (payload) => handle(payload) },
    preset: {
      worker: {
        concurrentJobs: CONCURRENCY,
        localQueue: { size: BATCH },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  })
  runner.events.on('job:error', ({ error }) => fault(String(error)))
  runner.events.on('worker:fatalError', ({ error }) => fault(String(error)))
  return { stop: () => runner.stop() }
}

export const graphileWorker: QueueContender = {
  name: 'graphile-worker',
  title: 'Graphile Worker',
  server: 'postgres',
  how: `addJob and addJobs; concurrentJobs ${CONCURRENCY}, localQueue of ${BATCH}, batched completion, pool of ${CONNECTIONS}`,
  open,
}
