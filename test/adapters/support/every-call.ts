import type { Transaction } from 'recentn'

/** Calls what a transaction has. Leaves items 1 and 2 in a group, message 2 in a queue, and one entry in a feed. */
export async function everyCall(tx: Omit<Transaction, 'manager'>, base: string): Promise<void> {
  await groups(tx, `${base}-group`)
  await queues(tx, `${base}-queue`)
  await feeds(tx, `${base}-feed`)
  expect([await tx.sequences.next(base), await tx.sequences.next(base, 5)]).toEqual([1n, 2n])
}

async function groups({ groups: calls, group }: Omit<Transaction, 'manager'>, name: string): Promise<void> {
  await calls.put(name, { capacity: 3 })
  const first = await calls.append(name, { payload: 1, member: `${name}-m`, eventId: 'e' })
  expect([first.id, first.appended]).toEqual([0n, true])
  expect((await calls.append(name, { payload: 9, eventId: 'e' })).appended).toBe(false)
  await calls.appendMany([
    { group: name, payload: 2 },
    { group: name, payload: 3 },
  ])
  expect((await calls.recent(name)).items.map(({ id }) => id)).toEqual([2n, 1n, 0n])
  expect((await calls.recentMany([name], { limit: 1 }))[0]?.items).toHaveLength(1)
  expect(await calls.item(name, 1n)).toMatchObject({ payload: 2 })
  expect((await calls.memberItems(`${name}-m`)).items).toHaveLength(1)
  expect(await group(name).remove(2n)).toBe(true)
  expect(await calls.get(name)).toMatchObject({ capacity: 3 })
  expect((await calls.list({ prefix: name })).groups).toHaveLength(1)
  await calls.append(`${name}-2`, { member: `${name}-gone` })
  expect(await calls.eraseMember(`${name}-gone`)).toEqual({ deleted: 1 })
  await calls.append(`${name}-2`)
  expect(await calls.clear(`${name}-2`)).toEqual({ deleted: 1 })
  expect(await calls.drop(`${name}-2`)).toBe(true)
}

async function queues({ queues: calls, queue }: Omit<Transaction, 'manager'>, name: string): Promise<void> {
  await calls.put(`${name}-dead`)
  await calls.put(name, { maxReceives: 5, deadLetterQueue: `${name}-dead` })
  await calls.update(name, { visibilityTimeoutSeconds: 30 })
  const { id } = await calls.send(name, 1, { dedupId: 'd', attributes: { a: 'b' } })
  expect((await calls.send(name, 1, { dedupId: 'd' })).sent).toBe(false)
  await calls.sendMany(name, [{ body: 2 }, { body: 3, messageGroup: 'g', priority: 1 }, { body: 4, delaySeconds: 60 }])
  expect(await calls.message(name, id)).toMatchObject({ body: 1 })
  const received = await queue(name).receive({ limit: 2 })
  expect(received).toHaveLength(2)
  const [one, two] = received.map(({ receiptHandle }) => receiptHandle) as [string, string]
  expect((await calls.extendMany(name, [one], { visibilityTimeoutSeconds: 60 })).failed).toEqual([])
  expect((await calls.nackMany(name, [one])).failed).toEqual([])
  expect((await calls.ackMany(name, [two])).failed).toEqual([])
  for (const { id: at, body } of (await calls.peek(name, { limit: 10 })).messages)
    if (body !== 2) await calls.remove(name, at)
  for (const state of ['delayed', 'in-flight'] as const) {
    for (const { id: at } of (await calls.peek(name, { state })).messages) await calls.remove(name, at)
  }
  await calls.send(name, 5, { key: 'k' })
  expect(await calls.cancel(name, 'k')).toBe(true)
  await calls.pause(name)
  await calls.resume(name)
  expect(await calls.hold(name, { seconds: 0 })).toEqual({ holdEndsAt: null })
  expect(await calls.get(name)).toMatchObject({ paused: false })
  expect(await calls.purge(`${name}-dead`)).toEqual({ deleted: 0 })
  expect(await calls.redrive(`${name}-dead`)).toEqual({ moved: 0 })
}

async function feeds({ feeds: calls, feed }: Omit<Transaction, 'manager'>, name: string): Promise<void> {
  await calls.put(name, 'a', 1)
  await calls.putMany(name, [
    { key: 'b', value: { b: 2 } },
    { key: 'c', value: null },
  ])
  expect(await feed(name).get('b')).toMatchObject({ value: { b: 2 } })
  await calls.delete(name, 'b')
  expect(await calls.get(name, 'b')).toBeNull()
  expect((await calls.changes(name)).changes).toEqual([])
  await calls.moveCursor(name, 'consumer', 0n)
  expect(await calls.cursor(name, 'consumer')).toMatchObject({ cursor: 0n })
  expect(await calls.dropCursor(name, 'consumer')).toBe(true)
  expect(await calls.status(name)).not.toBeNull()
}
