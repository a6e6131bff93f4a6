/** Handles with a schema, in the library and in the client. */
import { z } from 'zod'
import type { Client } from '../../src/client'
import type { Store, Transaction } from '../../src/index'

const SCHEMA = z.object({ to: z.string(), at: z.string().transform((text) => new Date(text)) })
const DAY = '2026-11-27T00:00:00.000Z'
const FIT = { to: 'ann', at: DAY }
const OUT = { to: 'ann', at: new Date(DAY) }
const UNFIT = { to: 7, at: DAY } as never

type Side = Pick<Transaction, 'queue' | 'queues' | 'feed' | 'feeds'>
const sideOf = (one: Store | Client | Transaction) => one as unknown as Side

/** The queue exists. */
export async function expectCheckedBodies(one: Store | Client | Transaction, name: string): Promise<void> {
  const { queue, queues } = sideOf(one)
  const mail = queue(name, { schema: SCHEMA })
  await expect(mail.send(UNFIT)).rejects.toMatchObject({
    code: 'invalid_input',
    faults: [{ pointer: '/body/to', detail: expect.stringMatching(/string/) }],
  })
  // The checked value is the one that will come out: a Date is a text then.
  await mail.send({ to: 'ann', at: new Date(DAY) } as never)
  const many = [{ body: FIT }, { body: UNFIT }, { body: { at: 5 } as never }]
  await expect(mail.sendMany(many)).rejects.toMatchObject({
    code: 'invalid_input',
    faults: [{ pointer: '/1/body/to' }, { pointer: '/2/body/to' }, { pointer: '/2/body/at' }],
  })
  await mail.sendMany([{ body: FIT, priority: -1 }])
  for (const wrong of [undefined, null, 7, [null], []]) {
    await expect(mail.sendMany(wrong as never)).rejects.toBeInstanceOf(Error)
  }
  expect((await mail.peek()).messages.map(({ body }) => body)).toEqual([FIT, FIT])
  const { id } = await queues.send(name, UNFIT, { priority: 1 })
  const received = await mail.receive({ limit: 3 })
  expect(received.map(({ body }) => body)).toEqual([OUT, OUT])
  expect(await mail.message(id)).toMatchObject({
    state: 'dead',
    body: UNFIT,
    lastError: expect.stringMatching(/^The body does not fit the schema: to: /),
  })
  await mail.nackMany(received)
  expect((await mail.cycle({ limit: 1 })).map(({ body }) => body)).toEqual([OUT])
}

export async function expectCheckedValues(one: Store | Client | Transaction, name: string): Promise<void> {
  const { feed, feeds } = sideOf(one)
  const users = feed(name, { schema: SCHEMA })
  await expect(users.put('a/b', UNFIT)).rejects.toMatchObject({
    code: 'invalid_input',
    faults: [{ pointer: '/value/to' }],
  })
  await expect(users.putMany([{ key: 'ann', value: UNFIT }])).rejects.toMatchObject({
    code: 'invalid_input',
    faults: [{ pointer: '/0/value/to' }],
  })
  await users.put('ann', FIT)
  await users.putMany([{ key: 'gone', value: FIT }])
  await users.delete('gone')
  expect((await users.get('ann'))?.value).toEqual(OUT)
  expect(await users.get('gone')).toBeNull()
  await feeds.put(name, 'bob', UNFIT)
  await expect(users.get('bob')).rejects.toThrow('The value of "bob" does not fit the schema: to: ')
  await feeds.delete(name, 'bob')
}

/** Works and consumes; the entries are published by `publish`. */
export async function expectHandledWithSchema(
  given: Store | Client,
  [queue, feed]: readonly [string, string],
  publish: () => Promise<unknown>,
): Promise<void> {
  const one = given as Store
  const [mail, users] = [one.queue(queue, { schema: SCHEMA }), one.feed(feed, { schema: SCHEMA })]
  await mail.send(FIT)
  const body = await new Promise((resolve) => {
    const worker = mail.work((message) => {
      resolve(message.body)
      void worker.stop()
    })
  })
  expect(body).toEqual(OUT)
  await publish()
  const changes = await users.changes({ limit: 10 })
  expect(changes.changes.map(({ value }) => value)).toEqual(expect.arrayContaining([OUT, null]))
  const seen = await new Promise<unknown[]>((resolve) => {
    const consumer = users.consume('index', (some) => {
      resolve(some.map(({ value }) => value))
      void consumer.stop()
    })
  })
  expect(seen).toEqual(changes.changes.map(({ value }) => value))
  for (const options of [{ shema: SCHEMA }, { schema: {} }, { schema: 'text' }]) {
    expect(() => one.queue(queue, options as never)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
    expect(() => one.feed(feed, options as never)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
  }
}
