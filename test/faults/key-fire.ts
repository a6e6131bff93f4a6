/**
 * Keys under fire: 8 senders and 3 workers on 50 keys, which are killed at random and started again. A connection beside them reads
 * all the time how many messages wait with each key: never two, and never two in flight. And each send that was acknowledged is
 * followed by a handling, begun after it, of its body or of one that was sent later: so the last body of each key is handled.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { openStore, type Store } from '../../src'
import { describeEngine, type EngineName } from '../support/engines'
import { pause } from '../support/timing'
import { useStore } from '../support/use-store'
import { linesOf } from './ledger-lines'
import { report } from './report'

const SENDERS = 8
const WORKERS = 3
const KEYS = 50
const SECONDS = Number(process.env.RECENTN_FIRE_SECONDS ?? 20)
const KILL_EVERY_MS = 800
const QUEUE = 'keyed'
const DRAINED_WITHIN_MS = 60_000

jest.setTimeout(SECONDS * 1000 + 180_000)

interface Send {
  begunAt: number
  /** Infinite if it was not acknowledged: it may have been sent, and at any time. */
  endedAt: number
  isKept: boolean
}

export function describeKeyFire(engine: EngineName): void {
  describeEngine(engine, `${KEYS} keys, ${SENDERS} senders and ${WORKERS} workers, killed at random`, () => {
    const at = useStore(engine, 'key-fire')

    it('never wait twice, and the last body of each is handled', async () => {
      await at.store.queues.put(QUEUE, { visibilityTimeoutSeconds: 2, maxReceives: null })
      const ledger = path.join(at.folder, 'ledger')
      const processes = new Map<string, ChildProcess>()
      let [kills, isSending, isOver] = [0, true, false]
      const start = (role: string, name: string) => {
        const parameters = [at.url, QUEUE, ledger, role, String(KEYS)]
        const child = fork(path.join(__dirname, 'key-fire-child.mjs'), parameters, { execArgv: [] })
        processes.set(name, child)
        child.once('message', () => ready.add(name))
        child.on('exit', () => {
          processes.delete(name)
          if (role === 'worker' ? !isOver : isSending) start(role, name)
        })
      }
      const ready = new Set<string>()
      for (let n = 0; n < SENDERS; n++) start('sender', `s${n}`)
      for (let n = 0; n < WORKERS; n++) start('worker', `w${n}`)
      const watch = await openStore({ url: at.url, publish: false, sweep: false, migrate: false })
      const watching = watched(watch, () => isOver)
      try {
        while (ready.size < SENDERS + WORKERS) await pause(50)
        const endsAt = performance.now() + SECONDS * 1000
        while (performance.now() < endsAt) {
          await pause(KILL_EVERY_MS * (0.5 + Math.random()))
          const all = [...processes.values()]
          if (all[Math.floor(Math.random() * all.length)]?.kill('SIGKILL')) kills++
        }
        isSending = false
        for (const [name, child] of processes) if (name.startsWith('s')) child.kill('SIGKILL')
        const until = performance.now() + DRAINED_WITHIN_MS
        while ((await leftIn(at.store)) > 0 && performance.now() < until) await pause(100)
      } finally {
        isOver = true
        isSending = false
        const exits = [...processes.values()].map((child) => once(child, 'exit'))
        for (const child of processes.values()) child.kill('SIGKILL')
        await Promise.all(exits)
      }
      const { looks, twice } = await watching
      await watch.close()
      const { faults, unhandled, sends, handled } = judged(ledger)
      expect({ twice, faults, unhandled, left: await leftIn(at.store) }).toEqual({
        ...{ twice: [], faults: [], unhandled: [], left: 0 },
      })
      expect(await at.store.dataSource.query('SELECT message_key FROM recentn_queue_keys')).toEqual([])
      // The fire was one.
      expect(kills).toBeGreaterThan(SECONDS / 4)
      expect(Math.min(looks, sends, handled)).toBeGreaterThan(KEYS)
      const text = `${sends} sends, ${handled} handled, ${kills} kills, ${looks} looks from outside`
      report({ type: 'run', engine, what: 'keys whose senders and workers are killed', text })
    })
  })
}

/** Of one statement, which sees one moment: the keys with two messages that wait, or two in flight. */
async function watched(store: Store, isOver: () => boolean): Promise<{ looks: number; twice: unknown[] }> {
  const found: unknown[] = []
  let looks = 0
  for (; !isOver(); looks++) {
    const twice = await store.dataSource.query(
      'SELECT message_key, CASE state WHEN 1 THEN 1 ELSE 0 END AS in_flight, COUNT(*) AS messages FROM recentn_queue_messages ' +
        'WHERE message_key IS NOT NULL GROUP BY message_key, CASE state WHEN 1 THEN 1 ELSE 0 END HAVING COUNT(*) > 1',
    )
    found.push(...twice)
    await pause(1)
  }
  return { looks, twice: found.slice(0, 5) }
}

async function leftIn(store: Store): Promise<number> {
  const [row] = await store.dataSource.query('SELECT COUNT(*) AS messages FROM recentn_queue_messages')
  return Number(row.messages)
}

function judged(ledger: string) {
  const faults: string[] = []
  const sends = new Map<string, Send>()
  const handlings = new Map<string, { id: string; begunAt: number }[]>()
  for (const [word, key = '', id = '', begun = '', ended, onKey] of linesOf(ledger)) {
    if (word === 'fault') faults.push(`${key} ${id}`)
    else if (word === 'handled') {
      handlings.set(key, [...(handlings.get(key) ?? []), { id, begunAt: Number(begun) }])
    } else {
      const endedAt = word === 'sent' ? Number(ended) : Number.POSITIVE_INFINITY
      sends.set(id, { begunAt: Number(begun), endedAt, isKept: onKey === 'keep' })
    }
  }
  const keyOf = new Map(linesOf(ledger).map(([, key = '', id = '']) => [id, key]))
  const unhandled: string[] = []
  for (const [id, send] of sends) {
    if (send.endedAt === Number.POSITIVE_INFINITY) continue
    const isFor = (one: { id: string; begunAt: number }) =>
      one.begunAt >= send.begunAt && (send.isKept || one.id === id || (sends.get(one.id)?.endedAt ?? 0) >= send.begunAt)
    if (!handlings.get(keyOf.get(id) as string)?.some(isFor)) unhandled.push(`${keyOf.get(id)} ${id}`)
  }
  const handled = [...handlings.values()].reduce((sum, all) => sum + all.length, 0)
  return { faults: faults.slice(0, 5), unhandled: unhandled.slice(0, 5), sends: sends.size, handled }
}
