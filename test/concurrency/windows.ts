/**
 * Three processes, two of which remember windows and are killed again and again, change the same groups and read them. A
 * page's tag names the state of its group: with one tag, all of them must have read one page.
 */
import { openStore } from '../../src/index'
import { describeEngine, type EngineName, freshDatabase } from '../support/engines'
import { type Script, spawnScript } from '../support/processes'

const SECONDS = 4
const KILL_EVERY_MS = 400
const GROUPS = {
  h1: { mode: 'history', capacity: 10 },
  h2: { mode: 'history', capacity: 200 },
  d1: { mode: 'distinct', capacity: 10 },
  d2: { mode: 'distinct', capacity: 40 },
} as const

interface Read {
  key: string
  digest: string
}

export function describeWindowsOfProcesses(engine: EngineName): void {
  describeEngine(engine, 'windows that three processes remember', () => {
    it('are never stale, whoever is killed', async () => {
      const database = await freshDatabase(engine)
      const store = await openStore({ url: database.url })
      for (const [group, settings] of Object.entries(GROUPS)) await store.groups.put(group, settings)
      await store.close()
      const started: Script[] = []
      const start = (groupMemoryBytes: number) => {
        const script = spawnScript('test/concurrency/windows-child.mjs', [
          JSON.stringify([database.url, GROUPS, groupMemoryBytes]),
        ])
        started.push(script)
        return script
      }
      const running = [start(0), start(1e6), start(1e6)]
      await Promise.all(running.map((script) => script.next()))
      const until = Date.now() + SECONDS * 1000
      for (let turn = 0; Date.now() < until; turn++) {
        await new Promise((resolve) => setTimeout(resolve, KILL_EVERY_MS))
        const at = 1 + (turn % 2)
        await running[at]?.stop('SIGKILL')
        running[at] = start(1e6)
        await running[at]?.next()
      }
      for (const script of running) script.process.stdin?.end()
      await Promise.all(running.map(({ finished }) => finished))
      const pages = new Map<string, string>()
      let again = 0
      for (const { lines } of started) {
        for (const { key, digest } of lines as Read[]) {
          if (digest === undefined) continue
          if (pages.has(key)) again++
          expect([key, pages.get(key) ?? digest]).toEqual([key, digest])
          pages.set(key, digest)
        }
      }
      // Otherwise they have compared nothing.
      expect(again).toBeGreaterThan(50)
      await database.drop()
    }, 60_000)
  })
}
