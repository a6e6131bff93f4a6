import type { Transaction } from '../../../src/index'
import { RecentRepository } from '../../../src/typeorm'
import { SOON_MS } from '../../support/timing'
import { type Context, down, eventually, expectSound, idsOf, refusal, sleep } from '../context'

export function describeTransactions(context: Context): void {
  const groups = () => context.store.groups
  const query = (sql: string, parameters: unknown[] = []) => context.store.dataSource.query(sql, parameters)
  const boom = new Error('boom')

  const notesOf = async (prefix: string): Promise<string[]> => {
    const rows: { note: string }[] = await query('SELECT note FROM own_notes WHERE note LIKE ? ORDER BY note', [
      `${prefix}%`,
    ])
    return rows.map((row) => row.note)
  }

  describe('transactions', () => {
    beforeAll(() => query('CREATE TABLE own_notes (note varchar(100) NOT NULL PRIMARY KEY)'))

    it('commit groups and rows of the caller together, and answer what the work answers', async () => {
      const [a, b] = [context.unique('a'), context.unique('b')]
      const answer = await context.store.transaction(async (tx) => {
        await tx.groups.put(b, { capacity: 2 })
        const item = await tx.groups.append(a, { payload: 1 })
        await tx.groups.appendMany([{ group: a }, { group: b }, { group: b }, { group: b }])
        await tx.manager.query('INSERT INTO own_notes (note) VALUES (?)', [a])
        // Its own writes are there to be read.
        expect(idsOf(await tx.groups.recent(a))).toEqual([1n, 0n])
        expect((await tx.groups.recentMany([b, a])).map((recent) => recent.totalAppended)).toEqual([3n, 2n])
        return item.id
      })
      expect(answer).toBe(0n)
      expect((await groups().recentMany([a, b])).map(idsOf)).toEqual([
        [1n, 0n],
        [2n, 1n],
      ])
      expect(await notesOf(a)).toEqual([a])
    })

    it('roll back all of it, whatever it was', async () => {
      const [a, b, gone] = [context.unique('a'), context.unique('b'), context.unique('c')]
      const member = context.unique('m')
      await groups().appendMany([{ group: a, member }, { group: b, member }, { group: a }, { group: gone }])
      const before = await groups().recentMany([a, b, gone])
      const failed = context.store.transaction(async (tx) => {
        await tx.groups.append(a, { eventId: 'e' })
        await tx.groups.append(`${a}new`)
        await tx.groups.put(b, { capacity: 1, mode: 'distinct' })
        await tx.groups.eraseMember(member)
        await tx.groups.remove(a, 1n)
        await tx.groups.clear(b)
        await tx.groups.drop(gone)
        await tx.policies.put(a, { capacity: 1, mode: 'history' })
        await tx.manager.query('INSERT INTO own_notes (note) VALUES (?)', [a])
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect(await groups().recentMany([a, b, gone])).toEqual(before)
      expect(await groups().get(`${a}new`)).toBeNull()
      expect(await context.store.policies.get(a)).toBeNull()
      expect(await notesOf(a)).toEqual([])
      expect(await groups().append(a, { eventId: 'e' })).toMatchObject({ id: 2n, appended: true })
    })

    it('a policy counts inside at once, and outside only once it is committed', async () => {
      const prefix = context.unique('p')
      const capacityOf = async (store: Pick<Transaction, 'groups'>, group: string) => {
        await store.groups.append(group)
        return (await store.groups.recent(group)).capacity
      }
      const failed = context.store.transaction(async (tx) => {
        await tx.policies.put(prefix, { capacity: 3, mode: 'history' })
        expect(await capacityOf(tx, `${prefix}a`)).toBe(3)
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect(await capacityOf(context.store, `${prefix}a`)).toBe(10)
      context.afterwards(() => context.store.policies.drop(prefix))
      await context.store.transaction((tx) => tx.policies.put(prefix, { capacity: 4, mode: 'history' }))
      expect(await capacityOf(context.store, `${prefix}b`)).toBe(4)
    })

    it('the exported repository works on a DataSource and in a transaction of it', async () => {
      const group = context.unique()
      const { dataSource } = context.store
      expect((await new RecentRepository(dataSource).append(group)).id).toBe(0n)
      const failed = dataSource.transaction(async (manager) => {
        const repository = new RecentRepository(manager)
        expect((await repository.append(group)).id).toBe(1n)
        expect((await repository.recent(group)).totalAppended).toBe(2n)
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect((await new RecentRepository(dataSource).append(group)).id).toBe(1n)
    })

    it('continue after an input that was refused and caught', async () => {
      const group = context.unique()
      await context.store.transaction(async (tx) => {
        await tx.groups.put(group, { mode: 'distinct' })
        await tx.groups.append(group, { member: 'a' })
        expect((await refusal(tx.groups.append(group))).code).toBe('invalid_input')
        expect((await refusal(tx.groups.append(group, { member: '' }))).code).toBe('invalid_input')
        await tx.groups.append(group, { member: 'b' })
      })
      expect(idsOf(await groups().recent(group))).toEqual([1n, 0n])
    })

    it('work inside a transaction of the DataSource, and of a query runner', async () => {
      const group = context.unique()
      const { dataSource } = context.store
      const insert = 'INSERT INTO own_notes (note) VALUES (?)'
      await dataSource.transaction(async (manager) => {
        await manager.query(insert, [`${group}1`])
        expect((await context.store.within(manager).groups.append(group)).id).toBe(0n)
      })
      const failed = dataSource.transaction(async (manager) => {
        await context.store.within(manager).groups.append(group)
        await manager.query(insert, [`${group}2`])
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      const runner = dataSource.createQueryRunner()
      try {
        await runner.startTransaction()
        const within = context.store.within(runner)
        await within.groups.append(group)
        await within.manager.query(insert, [`${group}3`])
        await runner.commitTransaction()
      } finally {
        await runner.release()
      }
      expect(await notesOf(group)).toEqual([`${group}1`, `${group}3`])
      expect(idsOf(await groups().recent(group))).toEqual([1n, 0n])
      expect((await refusal(Promise.resolve().then(() => context.store.within(dataSource.manager)))).code).toBe(
        'invalid_input',
      )
    })

    it('nest: within the manager of our transaction, and in a savepoint of TypeORM', async () => {
      const group = context.unique()
      await context.store.transaction(async (tx) => {
        await tx.groups.append(group, { payload: 'outer' })
        await context.store.within(tx.manager).groups.append(group, { payload: 'inner' })
        const inner = tx.manager.transaction(async (manager) => {
          await context.store.within(manager).groups.append(group, { payload: 'undone' })
          await manager.query('INSERT INTO own_notes (note) VALUES (?)', [group])
          throw boom
        })
        await expect(inner).rejects.toBe(boom)
        await tx.groups.append(group, { payload: 'after' })
      })
      const recent = await groups().recent(group)
      expect(recent.items.map((item) => [item.id, item.payload])).toEqual([
        [2n, 'after'],
        [1n, 'inner'],
        [0n, 'outer'],
      ])
      expect(await notesOf(group)).toEqual([])
    })

    it('are over when they are over: what was kept of one refuses to work', async () => {
      const group = context.unique()
      const kept = await context.store.transaction(async (tx) => tx)
      await expect(kept.groups.append(group)).rejects.toThrow()
      await expect(kept.groups.recent(group)).rejects.toThrow()
      expect(await groups().get(group)).toBeNull()
    })

    it('do not wait for themselves when the store is called inside of one', async () => {
      const group = context.unique()
      const inside = context.store.transaction(async (tx) => {
        await tx.groups.append(group)
        return groups()
          .append(context.unique())
          .then(
            () => 'appended',
            (error) => error,
          )
      })
      // The servers have other connections, until as many transactions call it.
      expect(await inside).toMatchObject({ code: 'misuse' })
      expect((await groups().recent(group)).totalAppended).toBe(1n)
    })

    it('never mix: one that rolls back takes nothing of another with it', async () => {
      const prefix = context.unique('mix')
      const groupOf = (n: number) => `${prefix}${n % 3}`
      const random = lcg(20_261_121)
      const kept: string[] = []
      const keptNotes: string[] = []
      const insert = 'INSERT INTO own_notes (note) VALUES (?)'
      const task = async (n: number): Promise<void> => {
        const name = `${prefix}n${String(n).padStart(3, '0')}`
        const [fails, pauses, kind] = [random() < 0.4, Math.floor(random() * 4), n % 5]
        await sleep(random() * 20)
        if (kind === 3) await groups().append(groupOf(n), { payload: name })
        else if (kind === 4) await query(insert, [name])
        else {
          const work = async (tx: Pick<Transaction, 'groups'>, insertNote: () => Promise<unknown>) => {
            if (kind !== 1) await tx.groups.append(groupOf(n), { payload: name })
            await sleep(pauses)
            await insertNote()
            await sleep(pauses)
            if (fails) throw boom
          }
          const { store } = context
          const done =
            kind === 0
              ? store.transaction((tx) => work(tx, () => tx.manager.query(insert, [name])))
              : store.dataSource.transaction((manager) =>
                  work(store.within(manager), () => manager.query(insert, [name])),
                )
          const outcome = await done.then(
            () => 'kept',
            (error) => error,
          )
          expect(outcome).toBe(fails ? boom : 'kept')
          if (fails) return
        }
        if (kind !== 4 && kind !== 1) kept.push(name)
        if (kind !== 3) keptNotes.push(name)
      }
      for (let n = 0; n < 3; n++) await groups().put(groupOf(n), { capacity: 200 })
      await Promise.all(Array.from({ length: 90 }, (_, n) => task(n)))
      expect(await notesOf(prefix)).toEqual(keptNotes.sort())
      const answers = await groups().recentMany([0, 1, 2].map(groupOf), { limit: 200 })
      expect(answers.flatMap((recent) => recent.items.map((item) => item.payload)).sort()).toEqual(kept.sort())
      for (const recent of answers) {
        expectSound(recent)
        expect(idsOf(recent)).toEqual(down(recent.totalAppended - 1n, recent.items.length))
      }
    })

    it('run again as a whole after a deadlock, and tell the caller nothing of it', async () => {
      const [a, b] = [context.unique('a'), context.unique('b')]
      await groups().appendMany([{ group: a }, { group: b }])
      const crossing = Array.from({ length: 10 }, (_, n) =>
        context.store.transaction(async (tx) => {
          await tx.groups.append(n % 2 ? a : b)
          await sleep(5)
          await tx.groups.append(n % 2 ? b : a)
        }),
      )
      await Promise.all(crossing)
      const answers = await groups().recentMany([a, b])
      expect(answers.map((recent) => [recent.totalAppended, idsOf(recent)])).toEqual([
        [11n, down(10, 10)],
        [11n, down(10, 10)],
      ])
    })

    it('are not seen by others before they commit', async () => {
      const group = context.unique()
      await groups().append(group)
      const other = await context.open()
      let reached = false
      let finish: () => void = () => {}
      const open = context.store.transaction(async (tx) => {
        await tx.groups.append(group)
        reached = true
        await new Promise<void>((resolve) => {
          finish = resolve
        })
      })
      await eventually(SOON_MS, 'the transaction has appended', async () => reached)
      expect((await other.groups.recent(group)).totalAppended).toBe(1n)
      finish()
      await open
      expect((await other.groups.recent(group)).totalAppended).toBe(2n)
    })
  })
}

/** A small random generator, so that a failure can be run again. */
function lcg(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
