/**
 * Nothing here runs: the types of payloads, bodies and values, through calls and handles of the library and the client.
 */
import * as v from 'valibot'
import { z } from 'zod'
import { JsonText, type Store } from '../../src'
import type { Client } from '../../src/client'

interface Mail {
  to: string
}

type Is<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false
const is = <A, B>(same: Is<A, B>): boolean => same

export async function calls(store: Store, client: Client): Promise<void> {
  const plain = await store.queues.receive('mail')
  is<(typeof plain)[0]['body'], unknown>(true)
  const typed = await store.queues.receive<Mail>('mail')
  is<(typeof typed)[0]['body'], Mail>(true)
  await store.queues.send<Mail>('mail', { to: 'ann' })
  await store.queues.send<Mail>('mail', new JsonText('{"to":"ann"}'))
  // @ts-expect-error: no mail
  await store.queues.send<Mail>('mail', { from: 'ann' })
  // @ts-expect-error: no mail
  await client.queues.sendMany<Mail>('mail', [{ body: 1 }])
  // Without a type, bodies of several types go together.
  await store.queues.sendMany('mail', [{ body: 1 }, { body: 'two' }])
  await client.groups.appendMany([
    { group: 'g', payload: 1 },
    { group: 'g', payload: 'two' },
  ])
  const [message] = await client.queues.receive<Mail>('mail')
  is<NonNullable<typeof message>['body'], Mail>(true)
  const page = await store.groups.recent<Mail>('g')
  is<(typeof page.items)[0]['payload'], Mail>(true)
  const ofClient = await client.groups.recentMany<Mail>(['g'])
  is<(typeof ofClient)[0]['items'][0]['payload'], Mail>(true)
  const entry = await store.feeds.get<Mail>('f', 'k')
  is<NonNullable<typeof entry>['value'], Mail>(true)
  const tombstone = await client.feeds.delete('f', 'k')
  is<NonNullable<typeof tombstone>['value'], null>(true)
}

/** What JSON has no form for is refused, where a type says so. */
export async function written(store: Store, client: Client, given: unknown, mail: Mail): Promise<void> {
  const { queues, groups, feeds } = store
  await queues.send('mail', given)
  await client.queues.send('mail', mail)
  await queues.send('mail', given as string | string[])
  await feeds.put('f', 'k', { at: new Date(), left: undefined })
  await queues.send('appended', await groups.append('g'))
  // @ts-expect-error: nothing
  await queues.send('mail', undefined)
  // @ts-expect-error: a bigint
  await client.queues.send('mail', 1n)
  // @ts-expect-error: a function
  await queues.send('mail', () => 1)
  // @ts-expect-error: a Map
  await feeds.put('f', 'k', new Map())
  // @ts-expect-error: a Map
  await client.feeds.put('f', 'k', [new Map()])
  // @ts-expect-error: a Set
  await queues.send('mail', { tags: { all: new Set(['a']) } })
  // @ts-expect-error: no such field
  await client.groups.append('g', { payload: 1, membr: 'ann' })
}

export async function handles(store: Store, client: Client): Promise<void> {
  for (const mail of [store.queue<Mail>('mail'), client.queue<Mail>('mail')]) {
    await mail.send({ to: 'ann' }, { delaySeconds: 5 })
    // @ts-expect-error: no mail
    await mail.send({ from: 'ann' })
    const [message] = await mail.receive({ limit: 1 })
    is<NonNullable<typeof message>['body'], Mail>(true)
    // @ts-expect-error: the name is bound
    await mail.receive('mail')
    mail.work(({ body }) => is<typeof body, Mail>(true))
    mail.work(({ body }) => is<typeof body, Mail>(true), { schema: z.object({ to: z.string() }) })
    // @ts-expect-error: the schema gives something else
    mail.work(() => {}, { schema: z.object({ from: z.string() }) })
  }
  for (const { schedules } of [store, client]) {
    await schedules.put<Mail>('daily', { queue: 'mail', everySeconds: 60, body: { to: 'ann' } })
    // @ts-expect-error: no mail
    await schedules.put<Mail>('daily', { queue: 'mail', everySeconds: 60, body: { from: 'ann' } })
    const kept = await schedules.get<Mail>('daily')
    is<NonNullable<typeof kept>['body'], Mail>(true)
  }
  for (const views of [store.group<Mail>('article:42'), client.group<Mail>('article:42')]) {
    await views.appendMany([{ member: 'ann', payload: { to: 'ann' } }])
    // @ts-expect-error: no mail
    await views.appendMany([{ payload: 1 }])
    // @ts-expect-error: the group is bound
    await views.appendMany([{ group: 'article:43', payload: { to: 'ann' } }])
  }
  const viewed = store.group<Mail>('article:42')
  await viewed.append({ member: 'ann', payload: { to: 'ann' } })
  // @ts-expect-error: no mail
  await viewed.append({ payload: 1 })
  for await (const event of viewed.watch()) if (event.type === 'item') is<typeof event.item.payload, Mail>(true)
  for await (const { payload } of client.group<Mail>('article:42').allItems()) is<typeof payload, Mail>(true)
  for (const users of [store.feed<Mail>('users'), client.feed<Mail>('users')]) {
    await users.put('ann', { to: 'ann' })
    // @ts-expect-error: no mail
    await users.put('ann', 1)
    users.consume('index', (changes) => {
      for (const change of changes) {
        if (change.deleted) is<typeof change.value, null>(true)
        else is<typeof change.value, Mail>(true)
      }
    })
  }
  await store.transaction(async (tx) => {
    await tx.queue<Mail>('mail').send({ to: 'ann' })
    // @ts-expect-error: no mail
    await tx.queue<Mail>('mail').send(1)
    // @ts-expect-error: a transaction has no workers
    tx.queue<Mail>('mail').work
    await tx.group<Mail>('g').append({ payload: { to: 'ann' } })
    await tx.group<Mail>('g').appendMany([{ payload: { to: 'ann' } }])
    await tx.feed<Mail>('f').put('ann', { to: 'ann' })
  })
}

export function schemas(store: Store, client: Client): void {
  const visit = z.object({ user: z.string(), at: z.coerce.date() })
  store.queues.work('visits', ({ body }) => is<typeof body, { user: string; at: Date }>(true), {
    schema: visit,
    concurrency: 2,
    onDone: ({ body }) => is<typeof body, { user: string; at: Date }>(true),
    onError: (_error, message) => is<typeof message, undefined | { body: unknown }>(false),
  })
  client.queues.work('visits', ({ body }) => is<typeof body.n, number>(true), { schema: v.object({ n: v.number() }) })
  store.feeds.consume('f', 'c', ([change]) => change?.deleted || is<typeof change, undefined>(false), { schema: visit })
  client.feeds.consume('f', 'c', (changes) => changes.map(({ value }) => is<typeof value, Date | null>(true)), {
    schema: z.coerce.date(),
  })
}
