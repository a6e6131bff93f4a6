import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataSource } from 'typeorm'
import { attachStore } from '../../../src/index'
import { RecentRepository } from '../../../src/typeorm'
import { type Context, down, expectSound, idsOf, userSource } from '../context'

/** As where a linked package or a monorepo brings a second one: other classes, the same code. */
function anotherTypeOrm(): typeof import('typeorm') {
  let copy: typeof import('typeorm') | undefined
  jest.isolateModules(() => {
    copy = require('typeorm')
  })
  return copy as typeof import('typeorm')
}

/** Stores that share a user's DataSource, or outlive one. */
export function describeAttachAgain(context: Context): void {
  const boom = new Error('boom')

  /** A DataSource of the user's with our tables: in memory where the engine has that, otherwise on the shared database. */
  async function shared(): Promise<DataSource> {
    const source = userSource(context.engine === 'sqlite' ? 'sqlite::memory:' : context.url)
    await source.initialize()
    context.afterwards(() => source.destroy())
    if (context.engine === 'sqlite') await source.runMigrations({ transaction: 'none' })
    return source
  }

  async function attached(source: DataSource) {
    const store = await attachStore(source, { sweep: false })
    context.afterwards(() => store.close())
    return store
  }

  describe('one DataSource of the user', () => {
    it('serves two stores at once, and their transactions never mix', async () => {
      const source = await shared()
      const stores = [await attached(source), await attached(source)] as const
      const group = context.unique()
      const ids: bigint[] = []
      const work = Array.from({ length: 80 }, async (_, n) => {
        const store = stores[n % 2 ? 1 : 0]
        if (n % 5 > 0) ids.push((await store.groups.append(group)).id)
        else {
          const failed = store.transaction(async (tx) => {
            await tx.groups.append(`${group}gone`)
            throw boom
          })
          await expect(failed).rejects.toBe(boom)
        }
      })
      await Promise.all(work)
      expect(ids.sort((a, b) => Number(b - a))).toEqual(down(63, 64))
      const recent = await stores[0].groups.recent(group)
      expect([recent.totalAppended, idsOf(recent)]).toEqual([64n, down(63, 10)])
      expectSound(recent)
      expect(await stores[1].groups.get(`${group}gone`)).toBeNull()
    })

    it('serves a store and a RecentRepository at once, and no rollback takes an append with it', async () => {
      const source = await shared()
      const store = await attached(source)
      const repository = new RecentRepository(source)
      const group = context.unique()
      const work = Array.from({ length: 60 }, async (_, n) => {
        if (n % 2) return repository.append(group)
        const failed = store.transaction(async (tx) => {
          await tx.groups.append(`${group}gone`)
          throw boom
        })
        return expect(failed).rejects.toBe(boom)
      })
      await Promise.all(work)
      expect(idsOf(await store.groups.recent(group, { limit: 100 }))).toEqual(down(29, 10))
      expect(await store.groups.get(`${group}gone`)).toBeNull()
    })

    it('serves a RecentRepository that was asked before it was initialized', async () => {
      const source = userSource(context.url)
      const repository = new RecentRepository(source)
      const group = context.unique()
      // A server is out of reach by it; a file is not.
      await repository.recent(group).catch(() => {})
      await source.initialize()
      context.afterwards(() => source.destroy())
      expect((await repository.append(group)).id).toBe(0n)
      expect((await context.store.groups.recent(group)).totalAppended).toBe(1n)
    })

    it('serves a store and a RecentRepository where the DataSource is of another copy of TypeORM', async () => {
      const source = userSource(context.url)
      const copy = anotherTypeOrm()
      const foreign = new copy.DataSource(source.options)
      expect(foreign).not.toBeInstanceOf(DataSource)
      await foreign.initialize()
      context.afterwards(() => foreign.destroy())
      const store = await attached(foreign)
      const group = context.unique()
      await store.groups.append(group)
      await new RecentRepository(foreign).append(group)
      await foreign.transaction(async (manager) => {
        await store.within(manager).groups.append(group)
        await new RecentRepository(manager).append(group)
      })
      expect(idsOf(await context.store.groups.recent(group))).toEqual(down(3, 4))
    })

    it.each(['a new', 'the same'])(
      'serves %s RecentRepository after it was destroyed and initialized',
      async (which) => {
        const source = userSource(context.url)
        await source.initialize()
        context.afterwards(() => source.destroy())
        const group = context.unique()
        const first = new RecentRepository(source)
        await first.append(group)
        await source.destroy()
        await source.initialize()
        const repository = which === 'a new' ? new RecentRepository(source) : first
        expect((await repository.append(group)).id).toBe(1n)
        expect((await context.store.groups.recent(group)).totalAppended).toBe(2n)
      },
    )

    it('in memory begins again when it is destroyed and initialized, and a RecentRepository with it', async () => {
      const memory = userSource('sqlite::memory:')
      for (let life = 0; life < 2; life++) {
        await memory.initialize()
        await memory.runMigrations({ transaction: 'none' })
        const repository = new RecentRepository(memory)
        expect((await repository.append('a')).id).toBe(0n)
        expect(await memory.query('SELECT COUNT(*) AS n FROM recentn_items')).toEqual([{ n: 1 }])
        await memory.destroy()
      }
    })

    it('in a file begins again with a new file, and a RecentRepository with it', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'recentn-again-'))
      context.afterwards(async () => rmSync(folder, { recursive: true, force: true }))
      const inside = join(folder, 'inside')
      const source = userSource(`sqlite:${join(inside, 'a.db')}`)
      const repository = new RecentRepository(source)
      // A file that can't be opened now can be later: the folder is a file.
      writeFileSync(inside, '')
      await expect(repository.append('a')).rejects.toThrow()
      rmSync(inside)
      for (let life = 0; life < 2; life++) {
        await source.initialize()
        await source.runMigrations({ transaction: 'none' })
        expect((await repository.append('a')).id).toBe(0n)
        expect(await source.query('SELECT COUNT(*) AS n FROM recentn_items')).toEqual([{ n: 1 }])
        await source.destroy()
        rmSync(inside, { recursive: true })
      }
    })

    it.each([
      { closing: 'the last first', order: [1, 0] },
      { closing: 'the first first', order: [0, 1] },
    ])('is left as it was by stores that come and go, closing $closing', async ({ order }) => {
      const source = userSource(context.url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const runner = source.createQueryRunner()
      context.afterwards(() => runner.release())
      const { query } = runner
      const stores = [await attached(source), await attached(source)]
      for (const n of order) await stores[n]?.close()
      // TypeORM's SQLite has one runner for all; the servers give each caller its own.
      expect(source.createQueryRunner().query).toBe(query)
      expect(runner.query).toBe(query)
    })
  })
}
