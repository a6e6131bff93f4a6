/**
 * Three processes, two of which remember windows and are killed again and again, change the same groups and read them. A
 * page's tag names the state of its group: with one tag, all of them must have read one page. And a read that begins after an
 * append was acknowledged, or after another read has ended, shows no less than that.
 */
import { openStore } from '../../src/index'
import { describeEngine, type EngineName, freshDatabase } from '../support/engines'
import { type Script, spawnScript } from '../support/processes'

/** The least time; the fire lasts until enough was read, however slow the machine is. */
const SECONDS = 4
const LEAST_AGAIN = 50
const LEAST_READS = 20
const KILL_EVERY_MS = 400
/** Null: by a policy, which changes. */
const GROUPS = {
  h1: { mode: 'history', capacity: 10 },
  h2: { mode: 'history', capacity: 200 },
  h3: { mode: 'history', capacity: 30, ttlSeconds: 1 },
  d1: { mode: 'distinct', capacity: 10 },
  d2: { mode: 'distinct', capacity: 40 },
  p1: null,
} as const
/** No process drops these: their totals only rise. */
const LASTING = ['h1', 'h3', 'd1', 'p1']

type Page = { key: string; digest: string }
type Timed = { group: string; begunAt: number; endedAt: number } & ({ read: number } | { appended: number })
type Line = Page | Timed | { reads: number }

export function describeWindowsOfProcesses(engine: EngineName): void {
  describeEngine(engine, 'windows that three processes remember', () => {
    it('are never stale, whoever is killed', async () => {
      const database = await freshDatabase(engine)
      const store = await openStore({ url: database.url })
      for (const [group, settings] of Object.entries(GROUPS)) if (settings) await store.groups.put(group, settings)
      await store.close()
      const lines = await played(database.url)
      expect(pagesOf(lines).faults).toEqual([])
      for (const group of LASTING) expect([group, staleIn(lines, group).stale]).toEqual([group, []])
      await database.drop()
    }, 120_000)
  })
}

/** The lines of the processes, with those that were killed. */
async function played(url: string): Promise<Line[]> {
  const started: Script[] = []
  const start = (groupMemoryBytes: number) => {
    const script = spawnScript('test/faults/window-fire-child.mjs', [
      JSON.stringify([url, GROUPS, LASTING, groupMemoryBytes]),
    ])
    started.push(script)
    return script
  }
  const running = [start(0), start(1e6), start(1e6)]
  await Promise.all(running.map((script) => script.next()))
  const until = Date.now() + SECONDS * 1000
  const told = () => started.flatMap((script) => script.lines as Line[])
  for (let turn = 0; Date.now() < until || !areEnough(told()); turn++) {
    await new Promise((resolve) => setTimeout(resolve, KILL_EVERY_MS))
    const at = 1 + (turn % 2)
    await running[at]?.stop('SIGKILL')
    running[at] = start(1e6)
    await running[at]?.next()
  }
  for (const script of running) script.process.stdin?.end()
  await Promise.all(running.map(({ finished }) => finished))
  return told()
}

const areEnough = (lines: readonly Line[]) =>
  pagesOf(lines).again > LEAST_AGAIN && LASTING.every((group) => staleIn(lines, group).reads > LEAST_READS)

/** Tags that have meant two pages; and how many pages were read more than once. */
function pagesOf(lines: readonly Line[]) {
  const pages = new Map<string, string>()
  const faults: string[] = []
  let again = 0
  for (const line of lines) {
    if (!('digest' in line)) continue
    const { key, digest } = line
    if (pages.has(key)) again++
    if ((pages.get(key) ?? digest) !== digest) faults.push(key)
    pages.set(key, digest)
  }
  return { faults, again }
}

/** Reads of the group that showed less than was known before they began; and how many there were. */
function staleIn(lines: readonly Line[], group: string) {
  const timed = lines.filter((line): line is Timed => 'begunAt' in line && line.group === group)
  const ended = timed.toSorted((a, b) => a.endedAt - b.endedAt)
  const stale: Timed[] = []
  let [least, next, reads] = [0, 0, 0]
  for (const line of timed.toSorted((a, b) => a.begunAt - b.begunAt)) {
    for (let before = ended[next]; before && before.endedAt < line.begunAt; before = ended[++next]) {
      least = Math.max(least, 'read' in before ? before.read : before.appended)
    }
    if (!('read' in line)) continue
    reads++
    if (line.read < least) stale.push(line)
  }
  return { stale, reads }
}
