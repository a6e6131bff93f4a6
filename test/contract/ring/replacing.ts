import { JsonText, type OwnSettings } from '../../../src/index'
import { type Context, refusal } from '../context'

type Ensured = Promise<{ created: boolean; tag: string }>
/** One kind of settings: two that differ, by the calls that all kinds have. */
interface Kind {
  get(name: string): Promise<{ tag: string } | null>
  list(prefix: string): Promise<{ tag: string }[]>
  put(name: string, second: boolean, options?: { ifTag?: string }): Ensured
  ensure(name: string, second: boolean): Ensured
  update(name: string, second: boolean, options?: { ifTag?: string }): Promise<{ tag: string }>
  drop(name: string): Promise<boolean>
  missing: string
}

function kindsOf({ store, unique }: Context): Record<string, Kind> {
  const { groups, policies, queues, schedules } = store
  const target = unique('target')
  const policy = (second: boolean) => ({ capacity: second ? 9 : 5, mode: 'history' }) as const
  const definition = (second: boolean) => ({
    queue: target,
    everySeconds: second ? 60 : 3600,
    body: { long: 'x'.repeat(3000) },
  })
  const withTarget = async () => void (await queues.ensure(target))
  return {
    groups: {
      get: (name) => groups.get(name),
      list: async (prefix) => (await groups.list({ prefix })).groups,
      put: (name, second, options) => groups.put(name, { capacity: second ? 9 : 5 }, options),
      ensure: (name, second) => groups.ensure(name, { capacity: second ? 9 : 5 }),
      update: (name, second, options) => groups.update(name, { capacity: second ? 9 : 5 }, options),
      drop: (name) => groups.drop(name),
      missing: 'group_not_found',
    },
    policies: {
      get: (name) => policies.get(name),
      list: async (prefix) => (await policies.list({ prefix })).policies,
      put: (name, second, options) => policies.put(name, policy(second), options),
      ensure: (name, second) => policies.ensure(name, policy(second)),
      update: (name, second, options) => policies.update(name, { capacity: policy(second).capacity }, options),
      drop: (name) => policies.drop(name),
      missing: 'policy_not_found',
    },
    queues: {
      get: (name) => queues.get(name),
      list: async (prefix) => (await queues.list({ prefix })).queues,
      put: (name, second, options) => queues.put(name, { maxReceives: second ? 9 : 5 }, options),
      ensure: (name, second) => queues.ensure(name, { maxReceives: second ? 9 : 5 }),
      update: (name, second, options) => queues.update(name, { maxReceives: second ? 9 : 5 }, options),
      drop: (name) => queues.drop(name),
      missing: 'queue_not_found',
    },
    schedules: {
      get: (name) => schedules.get(name),
      list: async (prefix) => (await schedules.list({ prefix })).schedules,
      put: (name, second, options) => withTarget().then(() => schedules.put(name, definition(second), options)),
      ensure: (name, second) => withTarget().then(() => schedules.ensure(name, definition(second))),
      update: (name, second, options) =>
        schedules.update(name, { everySeconds: definition(second).everySeconds }, options),
      drop: (name) => schedules.drop(name),
      missing: 'schedule_not_found',
    },
  }
}

/** Settings that are changed only where they are still those that the caller has read, and settings that are ensured. */
export function describeReplacing(context: Context): void {
  const groups = () => context.store.groups
  const changed = async (call: Promise<unknown>) => expect((await refusal(call)).code).toBe('settings_changed')

  describe.each(['groups', 'policies', 'queues', 'schedules'])('settings of %s', (kind) => {
    const at = () => kindsOf(context)[kind] as Kind

    it('have a tag, which is that of every answer and changes with them only', async () => {
      const [calls, name] = [at(), context.unique()]
      context.afterwards(() => calls.drop(name))
      const { tag, created } = await calls.put(name, false)
      expect(created).toBe(true)
      expect(tag).toMatch(/^[\w-]{22}$/)
      const answers = [await calls.get(name), ...(await calls.list(name)), await calls.ensure(name, false)]
      expect(answers.map((answer) => answer?.tag)).toEqual([tag, tag, tag])
      const again = [await calls.put(name, false), await calls.update(name, false)]
      expect(again.map((answer) => answer.tag)).toEqual([tag, tag])
      const other = await calls.update(name, true)
      expect(other.tag).not.toBe(tag)
      expect((await calls.get(name))?.tag).toBe(other.tag)
      expect((await calls.put(name, false)).tag).toBe(tag)
    })

    it('are changed by the tag that they have, and by no other', async () => {
      const [calls, name] = [at(), context.unique()]
      context.afterwards(() => calls.drop(name))
      for (const ifTag of ['*', 'none']) await changed(calls.put(name, false, { ifTag }))
      expect(await calls.get(name)).toBeNull()
      const { tag } = await calls.put(name, false)
      for (const ifTag of ['', 'none', tag.slice(1)]) {
        await changed(calls.put(name, true, { ifTag }))
        await changed(calls.update(name, true, { ifTag }))
      }
      expect((await calls.get(name))?.tag).toBe(tag)
      const second = await calls.update(name, true, { ifTag: tag })
      await changed(calls.update(name, false, { ifTag: tag }))
      expect((await calls.put(name, false, { ifTag: second.tag })).created).toBe(false)
      expect((await calls.put(name, true, { ifTag: '*' })).tag).toBe(second.tag)
    })

    it('that are not there are not updated', async () => {
      for (const options of [undefined, { ifTag: '*' }]) {
        expect((await refusal(at().update(context.unique(), true, options))).code).toBe(at().missing)
      }
    })

    it('are ensured once, with one warning where they differ', async () => {
      const [calls, name] = [at(), context.unique()]
      context.afterwards(() => calls.drop(name))
      const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
      context.afterwards(async () => warned.mockRestore())
      const answers = await Promise.all([1, 2, 3, 4].map(() => calls.ensure(name, false)))
      expect(answers.map(({ created }) => created).filter(Boolean)).toEqual([true])
      expect(warned).not.toHaveBeenCalled()
      for (let n = 0; n < 2; n++)
        expect(await calls.ensure(name, true)).toMatchObject({ tag: answers[0]?.tag, created: false })
      expect(warned.mock.calls).toEqual([
        [
          expect.stringMatching(/ (capacity|maxReceives|everySeconds) is \d+, not \d+\. /),
          { code: 'RECENTN_SETTINGS' },
        ],
      ])
    })
  })

  describe('settings', () => {
    it('of a group that is made again have another tag', async () => {
      const group = context.unique()
      const { tag } = await groups().put(group, { capacity: 3 })
      await groups().drop(group)
      await changed(groups().put(group, { capacity: 3 }, { ifTag: tag }))
      expect((await groups().put(group, { capacity: 3 })).tag).not.toBe(tag)
    })

    it('of a group follow the policy again after null, and each by itself', async () => {
      const group = context.unique()
      await context.store.policies.put(group, { capacity: 4, mode: 'history', ttlSeconds: 70 })
      context.afterwards(() => context.store.policies.drop(group))
      const own: OwnSettings = { capacity: 3, ttlSeconds: null, forgetEmptySeconds: 60 }
      const put = await groups().put(group, own)
      expect((await groups().update(group, {})).own).toEqual(own)
      expect((await groups().update(group, { ttlSeconds: undefined, mode: 'distinct' })).own).toEqual({
        ...own,
        mode: 'distinct',
      })
      const left = await groups().update(group, { capacity: null, ttlSeconds: null, mode: null }, { ifTag: '*' })
      expect(left).toMatchObject({ own: { forgetEmptySeconds: 60 }, capacity: 4, mode: 'history', ttlSeconds: 70 })
      expect(left).toEqual(await groups().get(group))
      expect(left.tag).not.toBe(put.tag)
      // Appends of others do not change the settings.
      await groups().append(group)
      expect((await groups().get(group))?.tag).toBe(left.tag)
    })

    it('of a policy: null is never, and no other may be null', async () => {
      const { policies } = context.store
      const prefix = context.unique('p')
      context.afterwards(() => policies.drop(prefix))
      await policies.put(prefix, { capacity: 5, mode: 'history', ttlSeconds: 60, forgetEmptySeconds: 90 })
      const updated = await policies.update(prefix, { ttlSeconds: null, mode: 'distinct' })
      expect(updated).toEqual({
        ...{ prefix, capacity: 5, mode: 'distinct', ttlSeconds: null, forgetEmptySeconds: 90 },
        tag: expect.any(String),
      })
      const { faults } = await refusal(policies.update(prefix, { capacity: null, mode: null } as never))
      expect(faults.map(({ pointer }) => pointer)).toEqual(['/capacity', '/mode'])
    })

    it('of a schedule: what it sends stays exact, and its next tick where its times stay', async () => {
      const { schedules, queues } = context.store
      const [queue, name] = [context.unique('q'), context.unique('s')]
      await queues.put(queue)
      context.afterwards(() => schedules.drop(name))
      const body = new JsonText('{"n":12345678901234567890}')
      const attributes = { from: 'test' }
      const put = await schedules.put(name, { queue, cron: '0 3 * * *', timeZone: 'Europe/Berlin', body, attributes })
      const later = await schedules.update(name, { priority: 3, maxReceives: null }, { bodies: 'text' })
      expect(later).toMatchObject({
        priority: 3,
        maxReceives: null,
        cron: put.cron,
        timeZone: put.timeZone,
        attributes,
      })
      expect([later.body, later.nextTickAt]).toEqual([body, put.nextTickAt])
      const every = await schedules.update(name, { cron: null, everySeconds: 60 })
      expect(every).toMatchObject({ cron: null, timeZone: null, everySeconds: 60, priority: 3 })
      expect((await refusal(schedules.update(name, { cron: '@daily' }))).faults).toMatchObject([
        { pointer: '/everySeconds' },
      ])
      const elsewhere = await refusal(schedules.update(name, { queue: context.unique('none') }))
      expect([elsewhere.code, elsewhere.faults[0]?.pointer]).toEqual(['queue_not_found', '/queue'])
      expect((await schedules.update(name, { body: null })).body).toBeNull()
    })

    it('are stored once when many change the same', async () => {
      const group = context.unique()
      const { tag } = await groups().put(group, { capacity: 1 })
      const puts = Array.from({ length: 8 }, (_, n) =>
        groups()
          .put(group, { capacity: 10 + n }, { ifTag: tag })
          .then(
            ({ capacity }) => capacity,
            (error: { code: string }) => error.code,
          ),
      )
      const outcomes = await Promise.all(puts)
      const stored = outcomes.filter((outcome) => typeof outcome === 'number')
      expect([stored.length, outcomes.filter((outcome) => outcome === 'settings_changed').length]).toEqual([1, 7])
      expect((await groups().get(group))?.capacity).toBe(stored[0])
    })

    it('are ensured and changed inside a transaction', async () => {
      const name = context.unique()
      context.afterwards(() => context.store.policies.drop(name))
      await context.store.transaction(async (tx) => {
        const { tag } = await tx.policies.ensure(name, { capacity: 4, mode: 'history' })
        expect(await tx.policies.ensure(name, { capacity: 4, mode: 'history' })).toMatchObject({ tag, created: false })
        expect((await tx.groups.ensure(name, {})).capacity).toBe(4)
        await tx.policies.update(name, { capacity: 6 }, { ifTag: tag })
        expect(await tx.groups.ensure(name, {})).toMatchObject({ capacity: 6, created: false })
      })
    })

    it('have a tag that is a text', async () => {
      const { faults } = await refusal(
        groups().put(context.unique(), { capacity: 0 }, { ifTag: 7, replaces: {} } as object),
      )
      expect(faults.map(({ pointer }) => pointer).sort()).toEqual(['/capacity', '/ifTag', '/replaces'])
    })
  })
}
