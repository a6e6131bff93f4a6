/**
 * Nothing here runs: the types of payloads, bodies and values, through calls and handles of the library and the client.
 */
import * as v from 'valibot'
import { z } from 'zod'
import { JsonText, type QueueHandle, type Store } from '../../src'
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

/** A value without a form in JSON is refused, where a type says so. */
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

export async function queueHandles(store: Store, client: Client): Promise<void> {
  for (const mail of [store.queue<Mail>('mail'), client.queue<Mail>('mail')]) {
    await mail.send({ to: 'ann' }, { delaySeconds: 5 })
    // @ts-expect-error: no mail
    await mail.send({ from: 'ann' })
    // @ts-expect-error: no mail
    await mail.sendMany([{ body: 1 }])
    mail.work(({ body }) => is<typeof body, Mail>(true))
    mail.work(({ body }) => is<typeof body, Mail>(true), { schema: z.object({ to: z.string() }) })
    // @ts-expect-error: the schema gives something else
    mail.work(() => {}, { schema: z.object({ from: z.string() }) })
  }
  const mail = store.queue<Mail>('mail')
  const [message] = await mail.receive({ limit: 1 })
  is<NonNullable<typeof message>['body'], Mail>(true)
  const [text] = await mail.receive({ bodies: 'text' })
  is<NonNullable<typeof text>['body'], JsonText>(true)
  const { messages } = await mail.peek({ bodies: 'preview' })
  is<(typeof messages)[0]['body'], string>(true)
  // @ts-expect-error: the name is bound
  await mail.receive('mail')
  const [ofClient] = await client.queue<Mail>('mail').receive({ limit: 1, timeoutSeconds: 5 })
  is<NonNullable<typeof ofClient>['body'], Mail>(true)
  // @ts-expect-error: the client gives no texts
  await client.queue<Mail>('mail').receive({ bodies: 'text' })
  // A caller that only sends takes any of them.
  const welcome = (queue: Pick<QueueHandle<Mail>, 'send'>) => queue.send({ to: 'ann' })
  await welcome(mail)
  await welcome(client.queue<Mail>('mail'))
  await store.transaction(async (tx) => {
    await welcome(tx.queue<Mail>('mail'))
    // @ts-expect-error: no mail
    await tx.queue<Mail>('mail').send(1)
    // @ts-expect-error: a transaction has no workers
    tx.queue<Mail>('mail').work
  })
}

export async function groupHandles(store: Store, client: Client): Promise<void> {
  for (const views of [store.group<Mail>('article:42'), client.group<Mail>('article:42')]) {
    await views.clear()
    // @ts-expect-error: the group is bound
    await views.get('article:43')
  }
  const viewed = store.group<Mail>('article:42')
  await viewed.append({ member: 'ann', payload: { to: 'ann' } })
  await viewed.appendMany([{ member: 'ann', payload: { to: 'ann' } }])
  // @ts-expect-error: no mail
  await viewed.append({ payload: 1 })
  // @ts-expect-error: no payload
  await viewed.append({ member: 'ann' })
  // @ts-expect-error: no item
  await viewed.append()
  // @ts-expect-error: no payload
  await viewed.appendMany([{ member: 'ann' }])
  // @ts-expect-error: the group is bound
  await viewed.appendMany([{ group: 'article:43', payload: { to: 'ann' } }])
  // @ts-expect-error: no payload
  await client.group<Mail>('article:42').append({ member: 'ann' })
  const placed = await client.group<Mail>('article:42').appendMany([{ payload: { to: 'ann' } }], { timeoutSeconds: 5 })
  is<keyof (typeof placed)[0], 'group' | 'id' | 'slot' | 'appended'>(true)
  // Where it may be null, a payload may be left out.
  await store.group('any').append()
  await store.group<Mail | null>('some').append({ member: 'ann' })
  const optional = await store.group<Mail | undefined>('some').append()
  is<typeof optional.payload, Mail | null>(true)
  for await (const event of viewed.watch()) if (event.type === 'item') is<typeof event.item.payload, Mail>(true)
  for await (const { payload } of client.group<Mail>('article:42').allItems()) is<typeof payload, Mail>(true)
  await store.transaction(async (tx) => {
    await tx.group<Mail>('g').append({ payload: { to: 'ann' } })
    await tx.group<Mail>('g').appendMany([{ payload: { to: 'ann' } }])
  })
}

/** A payload that is asked as text is text, and one that is not asked is null. */
export async function forms(store: Store): Promise<void> {
  const viewed = store.group<Mail>('article:42')
  const none = await viewed.recent({ payloads: 'none' })
  is<(typeof none.items)[0]['payload'], null>(true)
  const text = await viewed.recent({ payloads: 'text', limit: 5 })
  is<(typeof text.items)[0]['payload'], JsonText>(true)
  const page = await viewed.recentIfChanged(text.tag, { limit: 5 })
  is<NonNullable<typeof page>['items'][0]['payload'], Mail>(true)
  const nullable = await store.group<Mail | null>('some').recent({ payloads: 'text' })
  is<(typeof nullable.items)[0]['payload'], JsonText | null>(true)
  const ofAny = await store.groups.recent('g', { payloads: 'none' })
  is<(typeof ofAny.items)[0]['payload'], null>(true)
  // @ts-expect-error: it is null, and no mail
  await store.groups.recent<Mail>('g', { payloads: 'none' })
  const asked = await store.groups.recentMany<Mail, 'text'>(['g'], { payloads: 'text' })
  is<(typeof asked)[0]['items'][0]['payload'], JsonText>(true)
  const entry = await store.feeds.get('f', 'k', { values: 'text' })
  is<NonNullable<typeof entry>['value'], JsonText>(true)
  store.feeds.consume('f', 'c', ([change]) => change?.deleted || is<typeof change, undefined>(false), {
    values: 'text',
  })
  const schedule = await store.schedules.get('daily', { bodies: 'text' })
  is<NonNullable<typeof schedule>['body'], JsonText>(true)
}

export async function schedules(store: Store, client: Client): Promise<void> {
  await store.schedules.put<Mail>('daily', { queue: 'mail', everySeconds: 60, body: { to: 'ann' } })
  // @ts-expect-error: no mail
  await store.schedules.put<Mail>('daily', { queue: 'mail', everySeconds: 60, body: { from: 'ann' } })
  // @ts-expect-error: no mail
  await client.schedules.put<Mail>('daily', { queue: 'mail', everySeconds: 60, body: { from: 'ann' } })
  const kept = await store.schedules.get<Mail>('daily')
  is<NonNullable<typeof kept>['body'], Mail>(true)
  const ofClient = await client.schedules.get<Mail>('daily')
  is<NonNullable<typeof ofClient>['body'], Mail>(true)
}

export async function feedHandles(store: Store, client: Client): Promise<void> {
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
  await store.transaction((tx) => tx.feed<Mail>('f').put('ann', { to: 'ann' }))
}

/** A schema is part of a handle: what goes in is its input, what comes out its output. */
export async function handlesWithSchemas(store: Store, client: Client): Promise<void> {
  const visit = z.object({ user: z.string(), at: z.string().transform((text) => new Date(text)) })
  for (const visits of [store.queue('visits', { schema: visit }), client.queue('visits', { schema: visit })]) {
    await visits.send({ user: 'ann', at: '2026-11-27' })
    // @ts-expect-error: a date is what comes out
    await visits.send({ user: 'ann', at: new Date() })
    visits.work(({ body }) => is<typeof body, { user: string; at: Date }>(true))
  }
  const [message] = await store.queue('visits', { schema: visit }).receive()
  is<NonNullable<typeof message>['body'], { user: string; at: Date }>(true)
  await store.transaction(async (tx) => {
    const [inside] = await tx.queue('visits', { schema: v.object({ n: v.number() }) }).receive()
    is<NonNullable<typeof inside>['body'], { n: number }>(true)
  })
  store.queue<Mail>('mail', { schema: z.object({ to: z.string() }) })
  // @ts-expect-error: the schema gives something else
  store.queue<Mail>('mail', { schema: z.object({ from: z.string() }) })
  const dates = store.feed('dates', { schema: visit })
  await dates.putMany([{ key: 'ann', value: { user: 'ann', at: '2026-11-27' } }])
  // @ts-expect-error: no visit
  await dates.put('ann', { user: 'ann' })
  const entry = await dates.get('ann')
  is<NonNullable<typeof entry>['value'], { user: string; at: Date }>(true)
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
