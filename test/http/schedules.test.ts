/** Schedules over HTTP: what the routes answer, and what a key with a prefix may see. */
import { type Client, fresh, memoryStore, startApp } from './support/client'
import { served, useGuarded } from './support/keys'
import { mounted } from './support/mounting'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const FULL_SECOND = expect.stringMatching(/T\d\d:\d\d:\d\d\.000Z$/)

describe('/v1/schedules', () => {
  let server: Client
  let queue: string
  beforeAll(async () => {
    server = await startApp()
    queue = fresh('queue')
    await server.put(`/v1/queues/${queue}`, {})
  })

  const listed = {
    ...{ cron: null, everySeconds: null, timeZone: null, missed: 'send-once', delaySeconds: 0 },
    ...{ visibilityTimeoutSeconds: null, priority: 0, messageGroup: null, attributes: {}, nextTickAt: FULL_SECOND },
    ...{ lastTickAt: null, lastSentAt: null, lastError: null, createdAt: TIME, tag: expect.any(String) },
  }

  test('PUT creates with 201 and replaces with 200; GET, the list and DELETE', async () => {
    const name = fresh('a schedule / of äöü')
    const path = `/v1/schedules/${encodeURIComponent(name)}`
    const body = '{"a":1e400,"__proto__":[]}'
    const json = `{"queue":"${queue}","cron":"0 3 * * *","timeZone":"Europe/Berlin","maxReceives":null,"body":${body}}`
    const created = await server.request('PUT', path, {
      body: json,
      headers: { 'Content-Type': 'application/json' },
    })
    const given = { cron: '0 3 * * *', timeZone: 'Europe/Berlin', maxReceives: null }
    expect([created.status, created.headers.location]).toEqual([201, path])
    expect(created.json).toMatchObject({ ...listed, schedule: name, queue, ...given })
    expect(created.text).toContain(`"body":${body}`)
    expect((await server.get(path)).text).toBe(created.text)
    const all = await server.get(`/v1/schedules?prefix=${encodeURIComponent(name)}`)
    expect(all.json).toEqual({ schedules: [{ ...listed, schedule: name, queue, ...given }], nextAfter: null })

    const patch = (json: object, headers = {}) => server.request('PATCH', path, { json, headers })
    const patched = await patch({ priority: 3 }, { 'If-Match': String(created.headers.etag) })
    expect([patched.status, patched.json.priority, patched.json.cron]).toEqual([200, 3, '0 3 * * *'])
    expect(patched.text).toContain(`"body":${body}`)
    expect((await patch({}, { 'If-Match': String(created.headers.etag) })).json.code).toBe('settings_changed')
    expect((await patch({ body: null, cron: null, everySeconds: 9 })).json).toMatchObject({
      body: null,
      timeZone: null,
    })
    expect((await server.ensure(path, { queue, everySeconds: 5, body: 1 })).json.existing).toMatchObject({
      everySeconds: 9,
    })

    const replaced = await server.put(path, { queue, everySeconds: 60, missed: 'skip', cron: null, body: null })
    expect([replaced.status, replaced.json]).toEqual([
      200,
      { ...listed, schedule: name, queue, everySeconds: 60, missed: 'skip', body: null },
    ])
    expect([(await server.delete(path)).status, (await server.delete(path)).json.code]).toEqual([
      204,
      'schedule_not_found',
    ])
    const gone = await server.get(path)
    expect([gone.status, gone.json.code]).toEqual([404, 'schedule_not_found'])
  })

  test('lists page by name', async () => {
    const base = fresh('list')
    for (const n of [1, 2, 3]) await server.put(`/v1/schedules/${base}${n}`, { queue, everySeconds: n, body: n })
    const first = await server.get(`/v1/schedules?prefix=${base}&limit=2`)
    expect(first.json.nextAfter).toBe(`${base}2`)
    const second = await server.get(`/v1/schedules?prefix=${base}&limit=2&after=${base}2`)
    expect([second.json.schedules?.length, second.json.nextAfter]).toEqual([1, null])
  })

  test('what is not valid is refused with every fault', async () => {
    const path = `/v1/schedules/${fresh('bad')}`
    const refused = async (json: unknown) => {
      const { status, json: problem } = await server.put(path, json)
      const faults = (problem.errors ?? []) as unknown as { pointer: string }[]
      return [status, problem.code, faults.map(({ pointer }) => pointer).sort()]
    }
    expect(await refused({ queue, body: 1 })).toEqual([400, 'invalid_input', ['/cron']])
    expect(await refused({ queue })).toEqual([400, 'invalid_input', ['/body', '/cron']])
    expect(await refused({ queue, body: 1, cron: '0 0 30 2 *' })).toEqual([400, 'invalid_input', ['/cron']])
    expect(await refused({ queue, body: 1, cron: '@daily', everySeconds: 1 })).toEqual([
      400,
      'invalid_input',
      ['/everySeconds'],
    ])
    expect(await refused({ cron: 5, timeZone: 'x', dedupId: 'y' })).toEqual([
      400,
      'invalid_input',
      ['/body', '/cron', '/dedupId', '/queue', '/timeZone'],
    ])
    expect(await refused({ queue: fresh('none'), body: 1, everySeconds: 1 })).toEqual([
      404,
      'queue_not_found',
      ['/queue'],
    ])
    expect((await server.get(path)).status).toBe(404)
  })
})

describe.each(served)('a key with a prefix, on %s', (engine) => {
  const guarded = useGuarded(engine)

  test('sees and changes only schedules of its names that send to queues of its names', async () => {
    const { queues, schedules: all } = guarded.store
    for (const queue of ['in:q', 'out:q']) await queues.put(queue)
    const definition = { everySeconds: 3600, body: 'secret' }
    await all.put('in:s', { ...definition, queue: 'in:q' })
    await all.put('in:other', { ...definition, queue: 'out:q' })
    await all.put('out:s', { ...definition, queue: 'in:q' })
    const confined = await guarded.client({ scopes: ['admin'], prefix: 'in:' })
    for (const query of ['', '?prefix=in:', '?prefix=', '?prefix=i']) {
      const { schedules } = (await confined.get(`/v1/schedules${query}`)).json
      expect((schedules as unknown as { schedule: string }[]).map(({ schedule }) => schedule)).toEqual(['in:s'])
    }
    expect((await confined.get('/v1/schedules?prefix=out:')).json).toEqual({ schedules: [], nextAfter: null })
    expect((await confined.get('/v1/schedules/in:s')).json).toMatchObject({ queue: 'in:q', body: 'secret' })
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const json = method === 'PATCH' ? { queue: 'in:q' } : undefined
      const hidden = await confined.request(method, '/v1/schedules/in:other', { json })
      expect([hidden.status, hidden.json.code]).toEqual([404, 'schedule_not_found'])
      expect((await confined.request(method, '/v1/schedules/out:s', { json })).status).toBe(403)
    }
    const { json: unseen } = await confined.ensure('/v1/schedules/in:other', { ...definition, queue: 'in:q' })
    expect([unseen.code, unseen.existing]).toEqual(['already_exists', undefined])
    const moved = await confined.request('PATCH', '/v1/schedules/in:s', { json: { queue: 'out:q' } })
    expect([moved.status, moved.json.errors]).toMatchObject([403, [{ pointer: '/queue' }]])
    const refused = await confined.put('/v1/schedules/in:new', { ...definition, queue: 'out:q' })
    expect([refused.status, refused.json.errors]).toEqual([
      403,
      [{ pointer: '/queue', detail: 'does not begin with "in:"' }],
    ])
    expect((await confined.put('/v1/schedules/out:new', { ...definition, queue: 'in:q' })).status).toBe(403)
    expect((await confined.put('/v1/schedules/in:new', { ...definition, queue: 'in:q' })).status).toBe(201)
    expect((await confined.delete('/v1/schedules/in:new')).status).toBe(204)
    expect((await all.list()).schedules.map(({ schedule }) => schedule)).toEqual(['in:other', 'in:s', 'out:s'])
    const sender = await guarded.client({ scopes: ['queue', 'read'] })
    expect((await sender.put('/v1/schedules/s', { ...definition, queue: 'in:q' })).status).toBe(403)
    expect((await sender.get('/v1/schedules/in:other')).status).toBe(200)
  })
})

test('an access function confines them too', async () => {
  const store = await memoryStore()
  await store.queues.put('out:q')
  await store.schedules.put('in:s', { queue: 'out:q', everySeconds: 60, body: 1 })
  const client = await mounted(store, { access: () => ({ prefix: 'in:' }) })
  expect((await client.get('/v1/schedules/in:s')).status).toBe(404)
  expect((await client.get('/v1/schedules')).json).toEqual({ schedules: [], nextAfter: null })
})
