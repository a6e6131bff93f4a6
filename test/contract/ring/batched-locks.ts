import { moment, soonMs, timed } from '../../support/timing'
import { type Context, idsOf, refusal, sleep } from '../context'
import { times } from './batched'

/** Longer than the lock timeout of our connections, after which appends that wait are set aside. */
const ASIDE_MS = 6500

/** Appends to groups that another transaction has locked, beside appends to others. */
export function describeBatchedLocks(context: Context): void {
  // In SQLite a transaction has the only write lock: everybody waits for everybody.
  if (context.engine === 'sqlite') return
  const groups = () => context.store.groups

  /** Another transaction that has appended to the group, until it is ended. */
  async function held(group: string): Promise<() => Promise<void>> {
    const [begun, over] = [moment(), moment()]
    const open = context.store.transaction(async (tx) => {
      await tx.groups.append(group)
      begun.come()
      await over.reached
    })
    await begun.reached
    const letGo = async () => {
      over.come()
      await open
    }
    context.afterwards(letGo)
    return letGo
  }

  describe('a group whose lock another transaction holds for long', () => {
    it('keeps one waiting no longer that was locked at the same time', async () => {
      const store = await context.open({ batching: { lanes: 1 } })
      const [brief, stuck] = [context.unique('brief'), context.unique('stuck')]
      await groups().appendMany([{ group: brief }, { group: stuck }])
      const letBriefGo = await held(brief)
      const letStuckGo = await held(stuck)
      const waiting = [store.groups.append(brief), store.groups.append(stuck)]
      await sleep(ASIDE_MS)
      const late = store.groups.append(stuck)
      await letBriefGo()
      // At the worst another lock timeout, for the other one.
      const first = await timed(waiting[0] as Promise<{ id: bigint }>)
      expect([first.answer.id, first.ms < soonMs(9000)]).toEqual([2n, true])
      for (let n = 3n; n < 8n; n++) {
        const { answer, ms } = await timed(store.groups.append(brief))
        expect([answer.id, ms < soonMs()]).toEqual([n, true])
      }
      await letStuckGo()
      expect((await waiting[1])?.id).toBe(2n)
      expect((await late).id).toBe(3n)
      expect(idsOf(await groups().recent(stuck))).toEqual([3n, 2n, 1n, 0n])
    })

    it('fails its own appends with conflict after half a minute, and those to no other group', async () => {
      const store = await context.open({ batching: { lanes: 1 } })
      const [stuck, ...names] = times(6, () => context.unique()) as [string, ...string[]]
      await groups().appendMany([stuck, ...names].map((group) => ({ group })))
      const letGo = await held(stuck)
      const failing = [
        refusal(store.groups.append(stuck)),
        refusal(store.groups.appendMany([{ group: names[0] as string }, { group: stuck }])),
      ]
      let isOver = false
      const over = Promise.all(failing).then((errors) => {
        isOver = true
        return errors.map(({ code }) => code)
      })
      let appended = 0
      for (; !isOver; appended++) {
        await Promise.all(names.map((group) => store.groups.append(group)))
        await sleep(100)
      }
      expect(await over).toEqual(['conflict', 'conflict'])
      await letGo()
      for (const name of names) expect((await groups().recent(name)).totalAppended).toBe(BigInt(appended + 1))
      expect((await store.groups.append(stuck)).id).toBe(2n)
    })
  })
}
