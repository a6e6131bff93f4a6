/** The hot routes over HTTP: recentn's server against the same behind a small Express app. */
import { opOf, WINDOW } from '../items'
import { BULK, CONNECTIONS, GROUPS, type HttpServer, type Load, startHttp, wrk } from '../load/http'
import type { Contender, Job, Outcome } from '../types'
import { appendFaults, tryOut } from './http-check'
import { fill, outcome, type RingWorkload } from './workload'

const PEERS = ['recentn', 'redis', 'redis-always', 'insert-and-trim', 'postgres']

async function withServer(
  job: Job,
  contender: Contender,
  prefill: boolean,
  work: (server: HttpServer) => Promise<Outcome>,
): Promise<Outcome> {
  const ring = await contender.open({ urls: job.urls, purpose: 'history', fresh: true })
  try {
    if (prefill) await fill(ring, GROUPS)
  } finally {
    await ring.close()
  }
  const server = await startHttp(job, contender)
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

type Mode = 'post' | 'bulk'

async function post(job: Job, contender: Contender, mode: Mode, server: HttpServer): Promise<Outcome> {
  const each = mode === 'bulk' ? BULK : 1
  if (!job.quick) await wrk(job, server.url, job.warmUpMs, mode, 'warm:')
  const load = await wrk(job, server.url, job.ms, mode, 'article:')
  const tried = contender.unsound ? { faults: [], note: '' } : await tryOut(server.url, mode, contender)
  // What was under way when wrk left is finished first.
  await server.stop()
  const acknowledged = (load.requests - load.refused) * each
  const rate = (acknowledged * 1e6) / load.microseconds
  const ring = await contender.open({ urls: job.urls, purpose: 'history', fresh: false })
  try {
    if (contender.unsound) {
      const lost = Math.max(0, acknowledged - ((await ring.taken?.()) ?? 0))
      const note = `NOT CORRECT: of ${load.requests} appends ${load.refused} refused, ${lost} acknowledged and lost`
      return { figure: acknowledged === 0 ? 0 : (rate * (acknowledged - lost)) / acknowledged, faults: [], note }
    }
    const { faults, note } = await appendFaults(ring, acknowledged, each)
    const all = [...answerFaults(load), ...tried.faults, ...faults]
    return outcome(rate, all, `${load.requests} answers; ${note}; ${tried.note}`, latencyOf(load))
  } finally {
    await ring.close()
  }
}

function answerFaults({ refused, broken }: Load): string[] {
  const faults = refused > 0 ? [`${refused} requests were refused`] : []
  if (broken > 0) faults.push(`${broken} connections or answers failed`)
  return faults
}

function latencyOf({ p50, p99 }: Load): { p50: number; p99: number } {
  return { p50: p50 / 1000, p99: p99 / 1000 }
}

const at = `${CONNECTIONS} connections`

export const httpPost: RingWorkload = {
  name: 'http-post',
  network: true,
  title: `POST one item, 1,000 groups, ${at}`,
  unit: 'requests/s',
  contenders: [...PEERS, 'published-recipe'],
  http: true,
  run: (job, contender) => withServer(job, contender, false, (server) => post(job, contender, 'post', server)),
}

export const httpBulk: RingWorkload = {
  name: 'http-bulk',
  title: `POST /v1/items in hundreds, 1,000 groups, ${at}`,
  unit: 'items/s',
  contenders: PEERS,
  http: true,
  run: (job, contender) => withServer(job, contender, false, (server) => post(job, contender, 'bulk', server)),
}

export const httpGet: RingWorkload = {
  name: 'http-get',
  title: `GET the last ${WINDOW} of one group, 1,000 warm groups, ${at}`,
  unit: 'requests/s',
  contenders: PEERS,
  http: true,
  run: (job, contender) =>
    withServer(job, contender, true, async ({ url }) => {
      const { faults, bytes } = await readAll(url)
      if (!job.quick) await wrk(job, url, job.warmUpMs, 'get', 'article:')
      const load = await wrk(job, url, job.ms, 'get', 'article:')
      faults.push(...answerFaults(load))
      // Answers differ by a few digits only: one that is not whole would show in the mean.
      const mean = load.bytes / load.requests
      if (mean < bytes) faults.push(`an answer had ${mean.toFixed(0)} bytes, its body alone has ${bytes.toFixed(0)}`)
      const note = `${load.requests} answers of ${mean.toFixed(0)} bytes; before, each group compared with the ${WINDOW} due`
      return outcome((load.requests * 1e6) / load.microseconds, faults, note, latencyOf(load))
    }),
}

/** Every group once: what must come, and how long it is. */
async function readAll(url: string): Promise<{ faults: string[]; bytes: number }> {
  const faults: string[] = []
  let bytes = 0
  for (let group = 0; group < GROUPS; group++) {
    const response = await fetch(`${url}/v1/groups/article:${group}/items`)
    const text = await response.text()
    bytes += Buffer.byteLength(text)
    const ops = (JSON.parse(text) as { items: never[] }).items.map(opOf)
    const due = Array.from({ length: WINDOW }, (_, place) => (group + 1) * WINDOW - 1 - place)
    if (response.status !== 200 || ops.join() !== due.join()) {
      faults.push(`article:${group}: ${response.status} ${ops.join(' ')}`)
    }
  }
  return { faults, bytes: bytes / GROUPS }
}
