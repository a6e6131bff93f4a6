/** Schedules: each tick is sent once, whoever sends it, and in the transaction that moves the schedule on. */
import type { Message, ScheduleDefinition, Store } from '../../../src/index'
import { type Context, eventually, refusal } from '../context'
import { bodiesOf, queueTools } from './tools'

const TICK = 'recentn.tick'

export function describeSchedules(context: Context): void {
  const queues = () => context.store.queues
  const { made, pass } = queueTools(context)

  /** A new schedule, which ends with the test: the others of the file share its database. */
  async function scheduled(given: Partial<ScheduleDefinition> = {}): Promise<{ name: string; queue: string }> {
    const { queue = await made() } = given
    const name = context.unique('s')
    await context.store.schedules.put(name, {
      body: 1,
      ...given,
      ...(given.cron ? {} : { everySeconds: given.everySeconds ?? 10 }),
      queue,
    })
    context.afterwards(() => context.store.schedules.drop(name))
    return { name, queue }
  }

  const received = async (queue: string): Promise<Message[]> => queues().receive(queue, { limit: 100 })
  const ticksOf = (messages: readonly Message[]) =>
    messages.map(({ attributes }) => Date.parse(attributes[TICK] as string))

  /** Moves the time to the moment when the next tick is due. */
  async function passToNext(name: string): Promise<number> {
    const nextMs = (await context.store.schedules.get(name))?.nextTickAt.getTime() as number
    const [row] = await context.store.dataSource.query(
      `SELECT ${context.store.dataSource.options.type === 'better-sqlite3' ? "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)" : 'ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000)'} AS now_ms`,
    )
    context.clock.offsetMs = Math.max(context.clock.offsetMs, nextMs - Number(row.now_ms))
    return nextMs
  }

  describe('queues: schedules', () => {
    it('send each tick once, with its planned time and all that a send takes', async () => {
      const message = {
        body: { report: 'daily', n: [1, null] },
        visibilityTimeoutSeconds: 77,
        maxReceives: null,
        priority: 5,
        messageGroup: 'tenant-3',
        attributes: { source: 'clock' },
      }
      const { name, queue } = await scheduled({ everySeconds: 20, ...message })
      expect(await context.store.schedules.tick()).toEqual({ sent: 0, failed: 0 })
      const first = await passToNext(name)
      expect(first % 1000).toBe(0)
      expect(await context.store.schedules.tick()).toEqual({ sent: 1, failed: 0 })
      expect(await context.store.schedules.tick()).toEqual({ sent: 0, failed: 0 })
      const [one, ...more] = await received(queue)
      expect(more).toEqual([])
      const { body, visibilityTimeoutSeconds, maxReceives, priority, messageGroup } = message
      expect(one).toMatchObject({ body, maxReceives, priority, messageGroup })
      expect((one as Message).visibleAt.getTime() - (one as Message).receivedAt.getTime()).toBe(
        visibilityTimeoutSeconds * 1000,
      )
      expect(one?.attributes).toEqual({
        source: 'clock',
        'recentn.schedule': name,
        [TICK]: new Date(first).toISOString(),
      })
      const schedule = await context.store.schedules.get(name)
      expect(schedule).toMatchObject({
        ...{ ...message, schedule: name, queue, cron: null, everySeconds: 20, timeZone: null, missed: 'send-once' },
        ...{ delaySeconds: 0, nextTickAt: new Date(first + 20_000), lastTickAt: new Date(first), lastError: null },
      })
      expect(schedule?.lastSentAt?.getTime()).toBeGreaterThanOrEqual(first)
      // Three ticks at once: a store that was busy for less than a minute leaves none out.
      pass(60)
      expect(await context.store.schedules.tick()).toEqual({ sent: 3, failed: 0 })
      expect(ticksOf(await received(queue))).toEqual([20_000, 40_000, 60_000].map((ms) => first + ms))
    })

    it('delay their messages as a send does', async () => {
      const { name, queue } = await scheduled({ delaySeconds: 30 })
      await passToNext(name)
      await context.store.schedules.tick()
      expect(await received(queue)).toEqual([])
      await context.store.schedules.drop(name)
      pass(31)
      expect(await received(queue)).toHaveLength(1)
    })

    it('put again as they are keep their next tick, and send none twice', async () => {
      const definition = { queue: await made(), cron: '*/5 * * * *', timeZone: 'Europe/Berlin', body: 1 }
      const { name } = await scheduled(definition)
      const before = await context.store.schedules.get(name)
      expect(before?.nextTickAt.getTime()).toBe(
        Math.floor((before?.nextTickAt.getTime() as number) / 300_000) * 300_000,
      )
      pass(30)
      expect(await context.store.schedules.put(name, definition)).toEqual({ ...before, created: false })
      // A tick that is due stays due; one that was sent is not sent again.
      await passToNext(name)
      await context.store.schedules.put(name, { ...definition, body: 2 })
      expect(await context.store.schedules.tick()).toMatchObject({ sent: 1 })
      await context.store.schedules.put(name, { ...definition, body: 2 })
      expect(await context.store.schedules.tick()).toMatchObject({ sent: 0 })
      expect(bodiesOf(await received(definition.queue))).toEqual([2])
      const moved = await context.store.schedules.put(name, { queue: definition.queue, everySeconds: 7, body: 3 })
      const now = moved.lastSentAt?.getTime() as number
      expect(moved).toMatchObject({ created: false, cron: null, timeZone: null, everySeconds: 7 })
      expect(moved.nextTickAt.getTime()).toBeLessThan(now + 60_000)
      expect(moved.lastTickAt).toEqual(before?.nextTickAt)
    })

    it('that no store was there for send the newest missed tick once, or none', async () => {
      const once = await scheduled({ everySeconds: 3600 })
      const skipping = await scheduled({ everySeconds: 3600, missed: 'skip' })
      const first = await passToNext(skipping.name)
      pass(3 * 3600 + 120)
      expect(await context.store.schedules.tick()).toEqual({ sent: 1, failed: 0 })
      expect(await received(skipping.queue)).toEqual([])
      const [late] = ticksOf(await received(once.queue))
      expect(Math.abs((late as number) - (first + 3 * 3_600_000))).toBeLessThan(120_000)
      const next = (await context.store.schedules.get(skipping.name))?.nextTickAt.getTime()
      expect(next).toBe(first + 4 * 3_600_000)
      expect(await context.store.schedules.get(skipping.name)).toMatchObject({ lastTickAt: null, lastSentAt: null })
    })

    it('of which many stores send the ticks at the same time, send each once', async () => {
      const schedules = await Promise.all([1, 2, 3, 4, 5].map(() => scheduled({ everySeconds: 5 })))
      const stores: Store[] = [context.store, ...(await Promise.all([1, 2, 3].map(() => context.open())))]
      const names = schedules.map(({ name }) => name)
      for (let round = 0; round < 5; round++) {
        for (const name of names) await passToNext(name)
        const sent = await Promise.all(stores.map(({ schedules }) => schedules.tick()))
        for (const { failed } of sent) expect(failed).toBe(0)
      }
      for (const { name, queue } of schedules) {
        // A tick that passes over a locked row leaves it to the process that has the lock.
        const ticks = ticksOf(await received(queue))
        const last = (await context.store.schedules.get(name))?.nextTickAt.getTime() as number
        const first = Math.min(...ticks)
        expect(ticks.length).toBeGreaterThanOrEqual(5)
        expect(ticks).toEqual(Array.from({ length: (last - first) / 5000 }, (_, n) => first + n * 5000))
      }
    })

    it('begin and end with the rows of a transaction', async () => {
      const queue = await made()
      const [kept, dropped] = [context.unique('s'), context.unique('s')]
      const definition = { queue, everySeconds: 10, body: 1 }
      const failing = context.store.transaction(async (tx) => {
        expect(await tx.schedules.put(kept, definition)).toMatchObject({ schedule: kept, created: true })
        expect(await tx.schedules.get(kept)).toMatchObject({ queue })
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await context.store.schedules.get(kept)).toBeNull()
      await context.store.schedules.put(dropped, definition)
      await context.store.transaction(async (tx) => {
        await tx.queues.put(context.unique('q'))
        await tx.schedules.put(kept, definition)
        expect([await tx.schedules.drop(dropped), await tx.schedules.drop(dropped)]).toEqual([true, false])
      })
      expect((await context.store.schedules.list({ prefix: kept })).schedules.map(({ schedule }) => schedule)).toEqual([
        kept,
      ])
      expect([await context.store.schedules.get(dropped), await context.store.schedules.drop(kept)]).toEqual([
        null,
        true,
      ])
      const refused = await refusal(context.store.transaction(() => context.store.schedules.tick()))
      expect(refused.code).toBe('misuse')
    })

    it('run in the background, woken when one is made; a rollback does not', async () => {
      const queue = await made()
      const errors: unknown[] = []
      const store = await context.open({ tick: true, onBackgroundError: (error) => errors.push(error) })
      const name = context.unique('s')
      context.afterwards(() => context.store.schedules.drop(name))
      await store.transaction((tx) => tx.schedules.put(name, { queue, everySeconds: 1, body: 1 }))
      await eventually(20_000, 'a message', async () => (await queues().peek(queue)).messages.length > 1)
      await store.close()
      const ticks = ticksOf(await received(queue))
      expect(ticks).toEqual(ticks.map((_, n) => (ticks[0] as number) + n * 1000))
      expect(errors).toEqual([])
    })

    it('that cannot send say why, keep no other waiting, and continue once they can', async () => {
      const broken = await scheduled({ everySeconds: 5 })
      const sound = await scheduled({ everySeconds: 5 })
      const told: string[] = []
      const store = await context.open({
        onBackgroundError: (error, work) => told.push(`${work}: ${(error as Error).message}`),
      })
      await queues().drop(broken.queue)
      const first = await passToNext(broken.name)
      await passToNext(sound.name)
      expect(await store.schedules.tick()).toMatchObject({ failed: 1 })
      expect(await received(sound.queue)).not.toEqual([])
      const lastError = `There is no queue ${JSON.stringify(broken.queue)}: create it with "ensure"`
      expect(told).toEqual([`schedule: The schedule ${JSON.stringify(broken.name)} could not send: ${lastError}`])
      expect(await context.store.schedules.get(broken.name)).toMatchObject({
        lastError,
        nextTickAt: new Date(first),
        lastTickAt: null,
      })
      await context.store.schedules.drop(sound.name)
      // Not before a minute, and told once.
      expect(await store.schedules.tick()).toEqual({ sent: 0, failed: 0 })
      pass(61)
      expect(await store.schedules.tick()).toEqual({ sent: 0, failed: 1 })
      expect(told).toHaveLength(1)
      await queues().put(broken.queue)
      pass(61)
      expect(await store.schedules.tick()).toMatchObject({ failed: 0 })
      const ticks = ticksOf(await received(broken.queue))
      expect(ticks.length).toBeGreaterThan(10)
      expect(await context.store.schedules.get(broken.name)).toMatchObject({
        lastError: null,
        lastTickAt: new Date(ticks.at(-1) as number),
      })
      await queues().drop(broken.queue)
      await passToNext(broken.name)
      expect(await store.schedules.tick()).toMatchObject({ failed: 1 })
      expect(told).toHaveLength(2)
    })

    it('are listed by name, and by the beginnings of names and queues', async () => {
      const base = context.unique('list')
      const [a, b] = [`${base}qa`, `${base}qb`]
      for (const queue of [a, b]) await queues().put(queue)
      const names = ['1', '2', '3', 'ä', '😀'].map((end) => base + end)
      for (const [n, name] of names.entries()) {
        await context.store.schedules.put(name, { queue: n % 2 ? b : a, cron: '0 3 * * *', body: { n } })
        context.afterwards(() => context.store.schedules.drop(name))
      }
      const listed: string[] = []
      for (let after: string | null | undefined; after !== null; ) {
        const page = await context.store.schedules.list({ prefix: base, limit: 2, ...(after ? { after } : {}) })
        for (const each of page.schedules) expect(each).not.toHaveProperty('body')
        listed.push(...page.schedules.map(({ schedule }) => schedule))
        after = page.nextAfter
      }
      expect(listed).toEqual(names)
      const { schedules } = await context.store.schedules.list({ prefix: base, queuePrefix: b })
      expect(schedules.map(({ schedule }) => schedule)).toEqual([names[1], names[3]])
      expect(await context.store.schedules.get(names[2] as string)).toMatchObject({ body: { n: 2 }, timeZone: 'UTC' })
    })

    it('that are not valid are refused with every fault, and change nothing', async () => {
      const queue = await made()
      const good = { queue, cron: '0 3 * * *', body: 1 }
      const wrong: [object, Record<string, RegExp>][] = [
        [{ queue, body: 1 }, { '/cron': /is required unless everySeconds is given/ }],
        [{ ...good, everySeconds: 5 }, { '/everySeconds': /together with cron/ }],
        [{ queue, body: 1, everySeconds: 5, timeZone: 'UTC' }, { '/timeZone': /without cron/ }],
        [{ ...good, cron: '0 0 30 2 *' }, { '/cron': /never ticks/ }],
        // Each of its times is left out when the clocks change.
        [{ ...good, cron: '* * 2 * 3 +SUN#L', timeZone: 'Europe/Berlin' }, { '/cron': /in Europe\/Berlin/ }],
        [
          { ...good, cron: '61 * * * *', timeZone: 'Mars/Base' },
          { '/cron': /minute/, '/timeZone': /time zone/ },
        ],
        [
          { ...good, dedupId: 'x', missed: 'all' },
          { '/dedupId': /each tick is sent once/, '/missed': /send-once, skip/ },
        ],
        [{ cron: '0 3 * * *' }, { '/queue': /./, '/body': /is required/ }],
        [{ ...good, attributes: { 'recentn.tick': 'x' } }, { '/attributes': /recentn\.tick, which the schedule sets/ }],
        [
          { ...good, body: 'x'.repeat(256 * 1024), delaySeconds: -1 },
          { '/body': /256 KiB/, '/delaySeconds': /whole/ },
        ],
      ]
      const name = context.unique('s')
      for (const [definition, faults] of wrong) {
        const error = await refusal(context.store.schedules.put(name, definition as ScheduleDefinition))
        expect([error.code, error.faults.map(({ pointer }) => pointer).sort()]).toEqual([
          'invalid_input',
          Object.keys(faults).sort(),
        ])
        for (const { pointer, detail } of error.faults) expect(detail).toMatch(faults[pointer as string] as RegExp)
      }
      const missing = await refusal(context.store.schedules.put(name, { ...good, queue: context.unique('none') }))
      expect([missing.code, missing.status]).toEqual(['queue_not_found', 404])
      expect(await context.store.schedules.get(name)).toBeNull()
      for (const bad of ['', '.', 'x'.repeat(192)]) {
        for (const call of [
          context.store.schedules.put(bad, good),
          context.store.schedules.get(bad),
          context.store.schedules.drop(bad),
        ]) {
          expect((await refusal(call)).faults[0]?.parameter).toBe('schedule')
        }
      }
    })
  })
}
