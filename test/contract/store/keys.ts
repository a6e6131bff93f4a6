import { createHash } from 'node:crypto'
import type { Store } from '../../../src/index'
import { innerOf } from '../../../src/store/inner'
import { type Context, eventually, refusal, sleep } from '../context'
import { statementsOf } from '../statements'

export function describeKeys(context: Context): void {
  const keys = () => context.store.keys
  const rowOf = async (store: Store, id: string) => {
    const [row] = await store.dataSource.query('SELECT * FROM recentn_keys WHERE id = ?', [id])
    return row as Record<string, unknown>
  }
  const wrongSecret = (key: string) => key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A')
  const unknownKey = (n: number) => `rk_${n.toString(16).padStart(16, '0')}_${'x'.repeat(43)}`

  describe('keys', () => {
    it('are made with what they are for, and known by their text', async () => {
      const { key, ...made } = await keys().create({
        label: 'Läden 😀',
        scopes: ['read', 'append'],
        prefix: 'shop: 😀',
      })
      expect(key).toMatch(new RegExp(`^rk_${made.id}_[A-Za-z0-9_-]{43}$`))
      expect(made).toEqual({
        id: expect.stringMatching(/^[0-9a-f]{16}$/),
        label: 'Läden 😀',
        scopes: ['append', 'read'],
        prefix: 'shop: 😀',
        createdAt: expect.any(Date),
        lastUsedAt: null,
        revokedAt: null,
      })
      expect(Math.abs(made.createdAt.getTime() - Date.now() - context.clock.offsetMs)).toBeLessThan(60_000)
      expect(await keys().verify(key)).toEqual(made)
      expect(await (await context.open()).keys.verify(key)).toEqual(made)
      for (const prefix of [null, undefined]) {
        const { key: other } = await keys().create({ label: 'l', scopes: ['admin'], prefix })
        expect(await keys().verify(other)).toMatchObject({ prefix: null, scopes: ['admin'] })
      }
    })

    it('are stored as a hash only, and each is another', async () => {
      const made = await Promise.all([1, 2, 3].map(() => keys().create({ label: 'same', scopes: ['read'] })))
      const secrets = made.map(({ key }) => key.slice('rk_0123456789abcdef_'.length))
      expect(new Set(secrets).size).toBe(3)
      expect(new Set(made.map(({ id }) => id)).size).toBe(3)
      for (const [i, { id }] of made.entries()) {
        const row = await rowOf(context.store, id)
        expect(JSON.stringify(Object.values(row).map(String))).not.toContain(secrets[i])
        expect(row.secret_hash).toBe(createHash('sha256').update(String(secrets[i])).digest('hex'))
      }
    })

    it('are none with another secret, another id, or another form', async () => {
      const { key, id } = await keys().create({ label: 'l', scopes: ['read'] })
      const { key: other } = await keys().create({ label: 'l', scopes: ['read'] })
      const mixed = `rk_${id}_${other.slice(20)}`
      const wrong = ['', 'rk_', id, wrongSecret(key), mixed, ` ${key}`, `${key} `, `${key}x`, key.slice(0, -1)]
      wrong.push(key.toUpperCase(), key.replace('rk_', 'pk_'), unknownKey(1), `${key}\n`, 'x'.repeat(100_000))
      // The second time the right secret is known.
      for (const _ of [1, 2]) {
        for (const text of wrong)
          expect([text.slice(0, 99), await keys().verify(text)]).toEqual([text.slice(0, 99), null])
        expect(await keys().verify(key)).toMatchObject({ id })
      }
    })

    it('are listed page by page, the revoked ones too', async () => {
      const store = await context.open({ url: await context.emptyDatabase() })
      expect(await store.keys.list()).toEqual({ keys: [], nextAfter: null })
      for (let n = 0; n < 5; n++) await store.keys.create({ label: `key ${n}`, scopes: ['read'] })
      const { keys: all } = await store.keys.list()
      await store.keys.revoke(all[1]?.id as string)
      const seen = []
      for (let after: string | undefined; ; ) {
        const page = await store.keys.list({ limit: 2, after })
        seen.push(...page.keys)
        if (page.nextAfter === null) break
        after = page.nextAfter
      }
      expect(seen.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort())
      expect(new Set(seen.map(({ label }) => label)).size).toBe(5)
      expect(seen.map(({ revokedAt }) => revokedAt !== null)).toEqual([false, true, false, false, false])
      expect(JSON.stringify(seen)).not.toMatch(/hash|secret|rk_/i)
    })

    it('are refused once revoked: here at once, elsewhere within 5 seconds', async () => {
      const { key, id } = await keys().create({ label: 'l', scopes: ['read'] })
      const other = await context.open()
      for (const store of [context.store, other]) expect(await store.keys.verify(key)).toMatchObject({ id })
      expect(await keys().revoke(id)).toBe(true)
      expect(await keys().verify(key)).toBeNull()
      await eventually(5000, 'the revocation applies', async () => (await other.keys.verify(key)) === null)
      const { revoked_at_ms: first } = await rowOf(context.store, id)
      context.clock.offsetMs += 1000
      expect(await other.keys.revoke(id)).toBe(true)
      expect((await rowOf(context.store, id)).revoked_at_ms).toEqual(first)
      for (const nobody of ['', 'x', 'f'.repeat(16), key, 7 as unknown as string]) {
        expect(await keys().revoke(nobody)).toBe(false)
      }
    })

    it('are known elsewhere within some seconds, also where the id was asked for before', async () => {
      const other = await context.open()
      const { key, id } = await keys().create({ label: 'l', scopes: ['read'] })
      const row = await rowOf(context.store, id)
      await context.store.dataSource.query('DELETE FROM recentn_keys WHERE id = ?', [id])
      expect(await other.keys.verify(key)).toBeNull()
      await context.store.dataSource.query(
        'INSERT INTO recentn_keys (id, secret_hash, label, scopes, created_at_ms) VALUES (?, ?, ?, ?, ?)',
        [id, row.secret_hash, 'l', 'read', 1],
      )
      await eventually(4000, 'the key is known', async () => (await other.keys.verify(key)) !== null)
    })

    it('exist from the first one on, also when all are revoked', async () => {
      const url = await context.emptyDatabase()
      const [store, other] = [await context.open({ url }), await context.open({ url })]
      expect([innerOf(store).keys.known(), innerOf(other).keys.known()]).toEqual([null, null])
      expect([await innerOf(store).keys.exist(), await innerOf(other).keys.exist()]).toEqual([false, false])
      expect([innerOf(store).keys.known(), innerOf(other).keys.known()]).toEqual([false, false])
      const { id } = await store.keys.create({ label: 'l', scopes: ['read'] })
      expect([innerOf(store).keys.known(), await innerOf(store).keys.exist()]).toEqual([true, true])
      // A caller that only asks what is known hears of it too.
      await eventually(4000, 'it is seen elsewhere', async () => innerOf(other).keys.known() === true)
      await store.keys.revoke(id)
      expect(await innerOf(await context.open({ url })).keys.exist()).toBe(true)
    })

    it('say when they were last used, to the minute', async () => {
      const store = await context.open()
      const { key, id } = await store.keys.create({ label: 'l', scopes: ['read'] })
      const lastUsed = async () => (await rowOf(store, id)).last_used_at_ms
      await store.keys.verify(wrongSecret(key))
      expect(await lastUsed()).toBeNull()
      await store.keys.verify(key)
      await eventually(5000, 'the use is written', async () => (await lastUsed()) !== null)
      const first = await lastUsed()
      // A store that does not know of it asks, and finds that it was written just now.
      const other = await context.open()
      await other.keys.verify(key)
      await other.close()
      expect(await lastUsed()).toEqual(first)
      context.clock.offsetMs += 61_000
      const third = await context.open()
      await third.keys.verify(key)
      await third.close()
      expect(Number(await lastUsed())).toBeGreaterThanOrEqual(Number(first) + 60_000)
    })

    it('in use cost a statement a second, and wrong ones in any number little', async () => {
      const { key } = await keys().create({ label: 'l', scopes: ['read'] })
      const { store, statements } = await statementsOf(context)
      const lookUps = () => statements.filter((sql) => /FROM recentn_keys k WHERE k\.id IN/.test(sql)).length
      const good = await Promise.all(Array.from({ length: 1000 }, () => store.keys.verify(key)))
      expect(good).not.toContain(null)
      expect(lookUps()).toBe(1)
      for (let n = 0; n < 1000; n++) await store.keys.verify(`rk_${n}`)
      expect(lookUps()).toBe(1)
      for (let n = 0; n < 500; n++) await store.keys.verify(wrongSecret(key))
      expect(lookUps()).toBeLessThanOrEqual(3)
      const before = lookUps()
      const wrong = Array.from({ length: 5000 }, (_, n) => unknownKey(n))
      expect(new Set(await Promise.all(wrong.map((text) => store.keys.verify(text))))).toEqual(new Set([null]))
      // 250 at once, one after the other.
      expect(lookUps() - before).toBeLessThanOrEqual(22)
      const most = lookUps()
      expect(await Promise.all(wrong.slice(0, 100).map((text) => store.keys.verify(text)))).not.toContain(1)
      expect(lookUps() - most).toBeLessThanOrEqual(1)
      const many = Array.from({ length: 12_000 }, (_, n) => unknownKey(10_000 + n))
      const outcomes = await Promise.allSettled(many.map((text) => store.keys.verify(text)))
      const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []))
      expect(new Set(refused)).toEqual(new Set(['overloaded']))
      expect(refused.length).toBe(7000)
      expect(await store.keys.verify(key)).not.toBeNull()
    })

    it('refuse what is none, with every fault', async () => {
      const wrong: [object, string[]][] = [
        [{}, ['/label', '/scopes']],
        [{ label: '', scopes: [] }, ['/label', '/scopes']],
        [{ label: 'a\u0000', scopes: ['root'], prefix: '' }, ['/label', '/prefix', '/scopes']],
        [{ label: 'l', scopes: ['read', 'read'] }, ['/scopes']],
        [{ label: 'l', scopes: 'read', prefix: 'x'.repeat(192) }, ['/prefix', '/scopes']],
        [{ label: 'l', scopes: ['read'], more: 1 }, ['/more']],
      ]
      for (const [given, pointers] of wrong) {
        const error = await refusal(keys().create(given as Parameters<Store['keys']['create']>[0]))
        expect(error.code).toBe('invalid_input')
        expect(error.faults.map(({ pointer }) => pointer).sort()).toEqual(pointers)
      }
      expect((await refusal(keys().list({ limit: 0 }))).code).toBe('invalid_input')
    })

    it('are refused by a store that is closed, and what was asked before is answered', async () => {
      const store = await context.open()
      const { key } = await keys().create({ label: 'l', scopes: ['read'] })
      const asked = store.keys.verify(key)
      await store.close()
      await asked.then(
        (found) => expect(found).not.toBeNull(),
        (error) => expect(error.code).toBe('closed'),
      )
      expect((await refusal(store.keys.create({ label: 'l', scopes: ['read'] }))).code).toBe('closed')
      await sleep(1200)
    })
  })

  describe('what names begin with', () => {
    it('narrows the items of a member, page by page, and their erasure', async () => {
      const { groups } = context.store
      const [base, member] = [context.unique('p'), context.unique('m')]
      const names = ['a:1', 'a:2', 'A:1', 'a', 'b:1', 'a:😀'].map((name) => base + name)
      for (let round = 0; round < 3; round++) for (const name of names) await groups.append(name, { member })
      const seen: string[] = []
      for (let before: string | undefined; ; ) {
        const page = await groups.memberItems(member, { prefix: `${base}a:`, limit: 2, before })
        seen.push(...page.items.map(({ group }) => group.slice(base.length)))
        if (page.nextBefore === null) break
        before = page.nextBefore
      }
      expect(seen.sort()).toEqual(['a:1', 'a:1', 'a:1', 'a:2', 'a:2', 'a:2', 'a:😀', 'a:😀', 'a:😀'])
      expect(await groups.eraseMember(member, { prefix: `${base}a:` })).toEqual({ deleted: 9 })
      const left = (await groups.memberItems(member)).items.map(({ group }) => group.slice(base.length))
      expect([...new Set(left)].sort()).toEqual(['A:1', 'a', 'b:1'])
      expect(await groups.eraseMember(member, { prefix: '' })).toEqual({ deleted: 9 })
      expect((await refusal(groups.eraseMember('', { prefix: 'x'.repeat(192) }))).faults).toHaveLength(2)
    })

    it('narrows the policies', async () => {
      const { policies } = context.store
      const base = context.unique('p')
      for (const name of ['a', 'a:', 'a:b', 'b']) await policies.put(base + name, { capacity: 1, mode: 'history' })
      const shown = async (prefix: string, limit?: number) => {
        const page = await policies.list({ prefix: base + prefix, limit })
        return [
          page.policies.map((policy) => policy.prefix.slice(base.length)),
          page.nextAfter?.slice(base.length) ?? null,
        ]
      }
      expect(await shown('a:')).toEqual([['a:', 'a:b'], null])
      expect(await shown('a', 2)).toEqual([['a', 'a:'], 'a:'])
      expect(await shown('c')).toEqual([[], null])
    })

    it('narrows a redrive to messages that came from there', async () => {
      const { queues } = context.store
      const base = context.unique('q')
      const [mine, other, letters] = [`${base}mine`, `${base}other`, `${base}letters`]
      await queues.put(letters)
      for (const queue of [mine, other]) await queues.put(queue, { deadLetterQueue: letters })
      const die = async (queue: string, count: number) => {
        await queues.sendMany(
          queue,
          Array.from({ length: count }, (_, body) => ({ body })),
        )
        const handles = (await queues.receive(queue, { limit: count })).map(({ receiptHandle }) => receiptHandle)
        await queues.nackMany(queue, handles, { dead: true })
      }
      await die(other, 300)
      await die(mine, 5)
      await queues.send(letters, 'its own')
      const [own] = (await queues.receive(letters, { limit: 1000 })).filter(({ body }) => body === 'its own')
      await queues.nackMany(letters, [own?.receiptHandle as string], { dead: true })
      const held = (await queues.peek(letters, { state: 'in-flight', limit: 1000 })).messages.length
      expect(held).toBe(305)
      context.clock.offsetMs += 60_000
      expect(await queues.redrive(letters, { prefix: mine })).toEqual({ moved: 6 })
      expect(await queues.redrive(letters, { prefix: mine })).toEqual({ moved: 0 })
      expect((await queues.peek(mine, { limit: 1000 })).messages).toHaveLength(5)
      expect((await queues.peek(letters, { limit: 1000 })).messages).toHaveLength(301)
      expect(await queues.redrive(letters)).toEqual({ moved: 300 })
    })
  })
}
