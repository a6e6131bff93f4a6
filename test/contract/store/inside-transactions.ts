import type { Transaction } from '../../../src/index'
import { type Context, down, expectSound, idsOf, membersOf, refusal, rowsOf, sleep, userSource } from '../context'

export function describeInsideTransactions(context: Context): void {
  const groups = () => context.store.groups
  const query = (sql: string, parameters: unknown[] = []) => context.store.dataSource.query(sql, parameters)
  const insert = 'INSERT INTO inside_notes (note, v) VALUES (?, 0)'
  const touch = 'UPDATE inside_notes SET v = v + 1 WHERE note = ?'
  const boom = new Error('boom')

  const isNoted = async (note: string) =>
    (await query('SELECT note FROM inside_notes WHERE note = ?', [note])).length === 1

  /** A row of the user's that another transaction has locked, until the function that comes back is called. */
  async function lockedNote() {
    const note = context.unique('note')
    await query(insert, [note])
    const runner = context.store.dataSource.createQueryRunner()
    await runner.startTransaction()
    await runner.query(touch, [note])
    let unlocked: Promise<void> | undefined
    const unlock = () => {
      unlocked ??= runner.rollbackTransaction().finally(() => runner.release())
      return unlocked
    }
    context.afterwards(unlock)
    return { note, unlock, query: (sql: string, parameters: unknown[]) => runner.query(sql, parameters) }
  }

  /** Runs into the locked row, in a transaction of TypeORM's inside of this one; waits a second for the lock. */
  async function runInto(note: string, tx: Transaction): Promise<void> {
    await tx.manager.query('SET SESSION innodb_lock_wait_timeout = 1')
    await tx.manager.transaction((manager) => manager.query(touch, [note]))
  }

  function describeConflicts(): void {
    it('a conflict in a savepoint leaves nothing open, and the work that runs again is applied once', async () => {
      const group = context.unique()
      const store = await context.open({ poolSize: 2 })
      const { note, unlock } = await lockedNote()
      let runs = 0
      await store.transaction(async (tx) => {
        if (++runs === 2) await unlock()
        await tx.groups.append(group, { member: `run ${runs}` })
        await runInto(note, tx)
      })
      expect(runs).toBe(2)
      for (let n = 0; n < 3; n++) await store.transaction((tx) => tx.groups.append(`${group}other`))
      expect(await groups().recent(group)).toMatchObject({ totalAppended: 1n, items: [{ member: 'run 2' }] })
      // A transaction that was left open would still have the lock.
      expect((await groups().append(group)).id).toBe(1n)
    })

    it('a conflict in a savepoint without retries stores nothing, also not later', async () => {
      const group = context.unique()
      await groups().append(group)
      const store = await context.open({ poolSize: 1 })
      const { note } = await lockedNote()
      const work = async (tx: Transaction) => {
        await tx.groups.append(group, { member: 'never' })
        await runInto(note, tx)
      }
      expect((await refusal(store.transaction(work, { retries: 0 }))).code).toBe('conflict')
      expect((await groups().append(group, { member: 'other' })).id).toBe(1n)
      for (let n = 0; n < 3; n++) await store.transaction((tx) => tx.groups.append(`${group}other`))
      expect(membersOf(await groups().recent(group))).toEqual(['other', null])
    })

    it('a deadlock that the work swallows is no commit, and what comes after it is not stored by itself', async () => {
      const group = context.unique()
      await groups().append(group)
      const { note, unlock, query: blocker } = await lockedNote()
      // InnoDB ends the one that has changed less.
      for (let n = 0; n < 30; n++) await blocker(insert, [`${note}${n}`])
      let runs = 0
      await context.store.transaction(async (tx) => {
        if (++runs === 2) await unlock()
        await tx.groups.append(group, { member: `run ${runs}` })
        const stuck = tx.manager.query(touch, [note]).catch(() => {})
        await sleep(50)
        const crossing =
          runs === 1 && blocker('SELECT last_id FROM recentn_groups WHERE group_key = ? FOR UPDATE', [group])
        await Promise.all([stuck, crossing])
        await tx.groups.append(group, { member: `after ${runs}` }).catch(() => {})
      })
      expect(membersOf(await groups().recent(group))).toEqual(['after 2', 'run 2', null])
    })

    it('within the manager of a transaction of the store, a conflict runs the transaction again', async () => {
      const group = context.unique()
      await groups().append(group)
      const store = await context.open({ poolSize: 1 })
      const runner = context.store.dataSource.createQueryRunner()
      await runner.startTransaction()
      await runner.query('SELECT group_key FROM recentn_groups WHERE group_key = ? FOR UPDATE', [group])
      let runs = 0
      await store.transaction(async (tx) => {
        if (++runs === 2) await runner.rollbackTransaction()
        await tx.manager.query('SET SESSION innodb_lock_wait_timeout = 1')
        await store.within(tx.manager).groups.append(group)
      })
      await runner.release()
      expect(runs).toBe(2)
      expect(idsOf(await groups().recent(group))).toEqual([1n, 0n])
    })
  }

  describe('inside a transaction', () => {
    beforeAll(() => query('CREATE TABLE inside_notes (note varchar(100) NOT NULL PRIMARY KEY, v integer NOT NULL)'))

    it.each(['store.transaction', 'store.within'])(
      'operations begun at once each get their own ids: %s',
      async (way) => {
        const group = context.unique()
        const work = ({ groups: inner }: Pick<Transaction, 'groups'>) =>
          Promise.all([
            ...Array.from({ length: 6 }, (_, n) => inner.append(group, { member: `m${n}` })),
            inner.appendMany([{ group }, { group }]).then(([item]) => item),
          ])
        const { store } = context
        const items =
          way === 'store.within'
            ? await store.dataSource.transaction((manager) => work(store.within(manager)))
            : await store.transaction(work)
        expect(items.map((item) => item?.id)).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n])
        const recent = await groups().recent(group)
        expect(idsOf(recent)).toEqual(down(7, 8))
        expect(membersOf(recent).slice(2)).toEqual(['m5', 'm4', 'm3', 'm2', 'm1', 'm0'])
        expectSound(recent)
      },
    )

    it('operations of two handles on it take turns too', async () => {
      const group = context.unique()
      await context.store.transaction(async (tx) => {
        const other = context.store.within(tx.manager)
        await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 ? tx : other).groups.append(group)))
      })
      expect(idsOf(await groups().recent(group))).toEqual(down(7, 8))
    })

    // In SQLite a transaction has the only write lock: no other can be in its way.
    if (context.engine !== 'sqlite') describeConflicts()

    it('a failure while a transaction that was begun inside is open rolls all of it back', async () => {
      const group = context.unique()
      const failed = context.store.transaction(async (tx) => {
        await tx.groups.append(group)
        await tx.manager.queryRunner?.startTransaction()
        await tx.manager.query(insert, [group])
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      for (let n = 0; n < 12; n++) await context.store.transaction((tx) => tx.groups.append(`${group}other`))
      expect(await groups().get(group)).toBeNull()
      expect(await isNoted(group)).toBe(false)
    })

    it('a transaction begun inside and left open is refused, and nothing is stored', async () => {
      const group = context.unique()
      const left = context.store.transaction(async (tx) => {
        await tx.groups.append(group)
        await tx.manager.queryRunner?.startTransaction()
        await tx.manager.query(insert, [group])
      })
      expect((await refusal(left)).code).toBe('misuse')
      for (let n = 0; n < 12; n++) await context.store.transaction((tx) => tx.groups.append(`${group}other`))
      expect(await groups().get(group)).toBeNull()
      expect(await isNoted(group)).toBe(false)
    })

    it('what a Promise.all that failed left running stores nothing', async () => {
      const group = context.unique()
      await groups().append(group)
      for (let delay = 0; delay < 24; delay++) {
        const late: Promise<unknown>[] = []
        const failed = context.store.transaction((tx) => {
          const lateInsert = async () => {
            await sleep(delay % 4)
            await tx.manager.query(insert, [`${group}${delay}`])
            throw boom // whoever was in time must not commit either
          }
          const work = [
            tx.groups.append(group),
            tx.groups.appendMany([{ group }, { group: `${group}${delay}` }]),
            lateInsert(),
            sleep(delay / 4).then(() => Promise.reject(boom)),
          ]
          late.push(...work)
          return Promise.all(work)
        })
        await expect(failed).rejects.toBeInstanceOf(Error)
        await Promise.allSettled(late)
        expect(await groups().get(`${group}${delay}`)).toBeNull()
        expect(await isNoted(`${group}${delay}`)).toBe(false)
      }
      expect(idsOf(await groups().recent(group))).toEqual([0n])
      expect((await groups().append(group)).id).toBe(1n)
    })

    it.each(['store.transaction', 'store.within'])(
      'a refused append that is caught changes nothing: %s',
      async (way) => {
        const group = context.unique()
        await context.store.policies.put(group, { capacity: 10, mode: 'history' })
        context.afterwards(() => context.store.policies.drop(group))
        await groups().appendMany(Array.from({ length: 10 }, (_, n) => ({ group, member: `m${n}` })))
        const before = await rowsOf(context.store, group)
        await context.store.policies.put(group, { capacity: 3, mode: 'distinct' })
        const work = async ({ groups: inner }: Pick<Transaction, 'groups'>) => {
          expect((await refusal(inner.append(group))).code).toBe('invalid_input')
          const batch = inner.appendMany([{ group: `${group}x`, member: 'm' }, { group: `${group}y` }])
          expect((await refusal(batch)).code).toBe('invalid_input')
        }
        const { store } = context
        if (way === 'store.transaction') await store.transaction(work)
        else await store.dataSource.transaction((manager) => work(store.within(manager)))
        expect(await rowsOf(store, group)).toEqual(before)
        expect(await Promise.all(['x', 'y'].map((end) => groups().get(group + end)))).toEqual([null, null])
        // A layout that only the head had taken would show now, or at the append.
        await context.store.policies.drop(group)
        expect(idsOf(await groups().recent(group))).toEqual(down(9, 10))
        expect(await groups().append(group, { member: 'x' })).toMatchObject({ id: 10n, slot: 0 })
        expect(idsOf(await groups().recent(group))).toEqual(down(10, 10))
        expectSound(await groups().recent(group))
      },
    )

    it('within a snapshot of the user, nothing is laid out by an older policy', async () => {
      const group = context.unique()
      await context.store.policies.put(group, { capacity: 2, mode: 'history' })
      context.afterwards(() => context.store.policies.drop(group))
      await groups().append(group)
      // Another process, as it were: it has read the older policy, and does not learn of the newer one.
      const store = await context.open()
      await store.groups.recent(group)
      const source = userSource(context.url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const runner = source.createQueryRunner()
      context.afterwards(() => runner.release())
      if (context.engine === 'sqlite') await runner.startTransaction()
      else {
        // MariaDB's would refuse to lock what has changed since; MySQL has no such variable.
        await runner.query('SET SESSION innodb_snapshot_isolation = OFF').catch(() => {})
        await runner.startTransaction('REPEATABLE READ')
      }
      await runner.query('SELECT COUNT(*) FROM inside_notes')
      await context.store.policies.put(group, { capacity: 100, mode: 'history' })
      await groups().appendMany(Array.from({ length: 19 }, () => ({ group })))
      const appended = store.within(runner).groups.append(group)
      // SQLite refuses to write after such a read; the servers lock the row as it is now.
      if (context.engine === 'sqlite') expect((await refusal(appended)).code).toBe('conflict')
      else expect((await appended).id).toBe(20n)
      await runner.commitTransaction()
      const recent = await groups().recent(group, { limit: 100 })
      const total = context.engine === 'sqlite' ? 20 : 21
      expect([recent.capacity, idsOf(recent)]).toEqual([100, down(total - 1, total)])
      expectSound(recent)
    })
  })
}
