/** A key that is confined to a prefix learns no name outside of it, whatever it asks about. */
import { type Client, memoryStore } from './support/client'
import { served, useGuarded } from './support/keys'
import { mounted } from './support/mounting'

describe.each(served)('a key with a prefix, on %s', (engine) => {
  const guarded = useGuarded(engine)
  let confined: Client
  let all: Client
  beforeAll(async () => {
    const { groups, policies, queues } = guarded.store
    await queues.put('out:letters')
    await queues.put('in:letters')
    await queues.put('in:q', { deadLetterQueue: 'out:letters' })
    await queues.put('in:r', { deadLetterQueue: 'in:letters' })
    await queues.put('out:q', { deadLetterQueue: 'in:letters' })
    for (const queue of ['in:q', 'out:q']) {
      await queues.send(queue, 1)
      await queues.nackMany(
        queue,
        (await queues.receive(queue)).map(({ receiptHandle }) => receiptHandle),
        { dead: true },
      )
    }
    await policies.put('i', { capacity: 3, mode: 'history' })
    await policies.put('in:p', { capacity: 4, mode: 'history' })
    for (const group of ['in:g', 'in:p']) await groups.append(group)
    confined = await guarded.client({ scopes: ['admin'], prefix: 'in:' })
    all = await guarded.client({ scopes: ['admin'] })
  })

  test('is not told the name of a dead-letter queue outside', async () => {
    const letters = async (client: Client) => {
      const list = (await client.get('/v1/queues?prefix=in:')).json.queues as unknown as Record<string, unknown>[]
      const named = Object.fromEntries(list.map(({ queue, deadLetterQueue }) => [queue, deadLetterQueue]))
      for (const queue of ['in:q', 'in:r']) {
        expect((await client.get(`/v1/queues/${queue}`)).json.deadLetterQueue).toBe(named[queue])
      }
      return named
    }
    expect(await letters(all)).toEqual({ 'in:letters': null, 'in:q': 'out:letters', 'in:r': 'in:letters' })
    expect(await letters(confined)).toEqual({ 'in:letters': null, 'in:q': null, 'in:r': 'in:letters' })
  })

  test('does not learn which queue has one within as its dead-letter queue', async () => {
    await guarded.store.queues.drop('in:r')
    const known = await all.delete('/v1/queues/in:letters')
    expect([known.status, known.json.detail]).toEqual([409, '"out:q" has it as its dead-letter queue'])
    const refused = await confined.delete('/v1/queues/in:letters')
    expect([refused.status, refused.json.code]).toEqual([409, 'queue_in_use'])
    expect(refused.text).not.toContain('out:')
    await guarded.store.queues.put('in:r', { deadLetterQueue: 'in:letters' })
  })

  test('is not told what is wrong outside, nor the dead-letter queue that has what died inside', async () => {
    const troubles = async (client: Client, prefix = '') => {
      const { json } = await client.get(`/v1/overview?prefix=${prefix}`)
      const list = json.troubles as unknown as Record<string, unknown>[]
      return list.map(({ kind, name, deadLetterQueue }) => [kind, name, deadLetterQueue])
    }
    expect(await troubles(all)).toEqual([
      ['dead', 'in:q', 'out:letters'],
      ['dead', 'out:q', 'in:letters'],
    ])
    expect(await troubles(confined)).toEqual([['dead', 'in:q', null]])
    expect([await troubles(confined, 'in:q'), await troubles(confined, 'out:')]).toEqual([[['dead', 'in:q', null]], []])
    const from = await confined.get('/v1/queues/in:letters/errors?from=out:q')
    expect([from.status, from.json.code]).toEqual([403, 'forbidden'])
    const redrive = await confined.post('/v1/queues/in:letters/redrive', { from: 'out:q' })
    expect([redrive.status, redrive.json.code]).toEqual([403, 'forbidden'])
  })

  test('is not told the prefix of a policy that is shorter than its own', async () => {
    for (const [client, expected] of [
      [all, 'i'],
      [confined, null],
    ] as const) {
      const list = (await client.get('/v1/groups?prefix=in:')).json.groups as unknown as Record<string, unknown>[]
      expect(list.map(({ group, capacity, policy }) => [group, capacity, policy])).toEqual([
        ['in:g', 3, expected],
        ['in:p', 4, 'in:p'],
      ])
      expect((await client.get('/v1/groups/in:g')).json).toMatchObject({ capacity: 3, policy: expected })
      expect((await client.put('/v1/groups/in:g', {})).json).toMatchObject({ capacity: 3, policy: expected })
    }
  })
})

test('so is what an access function confines', async () => {
  const store = await memoryStore()
  await store.queues.put('out:letters')
  await store.queues.put('in:q', { deadLetterQueue: 'out:letters' })
  const client = await mounted(store, { access: () => ({ prefix: 'in:' }) })
  expect((await client.get('/v1/queues/in:q')).json.deadLetterQueue).toBeNull()
})
