import { type Client, fresh, startApp } from './support/client'

const TAG = expect.stringMatching(/^[\w-]{22}$/)
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

let server: Client
beforeAll(async () => {
  server = await startApp()
})

describe('/v1/groups/{group}', () => {
  test('PUT creates with 201 and replaces with 200; what is left out follows the policy', async () => {
    const group = fresh()
    const created = await server.put(`/v1/groups/${group}`, { capacity: 3, mode: 'distinct', ttlSeconds: 60 })
    expect([created.status, created.headers.location]).toEqual([201, `/v1/groups/${encodeURIComponent(group)}`])
    const own = { capacity: 3, mode: 'distinct', ttlSeconds: 60 }
    const body = {
      group,
      ...own,
      forgetEmptySeconds: null,
      own,
      policy: null,
      tag: TAG,
      totalAppended: '0',
      createdAt: TIME,
    }
    expect(created.json).toEqual(body)
    expect((await server.get(`/v1/groups/${group}`)).json).toEqual(body)

    const replaced = await server.put(`/v1/groups/${group}`, { capacity: 4 })
    expect(replaced.status).toBe(200)
    expect(replaced.json).toEqual({ ...body, capacity: 4, mode: 'history', ttlSeconds: null, own: { capacity: 4 } })
    expect((await server.put(`/v1/groups/${group}`, {})).json.capacity).toBe(10)
  })

  test('PUT needs no body', async () => {
    const group = fresh()
    const answers = [await server.request('PUT', `/v1/groups/${group}`), await server.put(`/v1/groups/${group}`, {})]
    expect(answers.map(({ status }) => status)).toEqual([201, 200])
    expect(answers[0]?.json).toEqual(answers[1]?.json)
  })

  test('PUT and PATCH with If-Match change the settings of this tag only, otherwise 412', async () => {
    const path = `/v1/groups/${fresh()}`
    const ask = (method: string, json: object, headers: Record<string, string>) =>
      server.request(method, path, { json, headers })
    const ifMatch = (tag: string) => ({ 'If-Match': tag })
    expect((await ask('PUT', {}, ifMatch('*'))).json.code).toBe('settings_changed')
    expect((await ask('PATCH', {}, ifMatch('*'))).json.code).toBe('group_not_found')
    const made = await server.put(path, { capacity: 3, ttlSeconds: 60 })
    const { etag = '' } = made.headers
    expect(etag).toBe(`"${made.json.tag}"`)
    expect((await server.get(path)).headers.etag).toBe(etag)
    const changed = await ask('PATCH', { ttlSeconds: null, mode: 'distinct' }, ifMatch(etag))
    expect([changed.status, changed.json.own]).toEqual([200, { capacity: 3, mode: 'distinct' }])
    for (const method of ['PUT', 'PATCH']) {
      const refused = await ask(method, { capacity: 5 }, ifMatch(etag))
      expect([refused.status, refused.json.code]).toEqual([412, 'settings_changed'])
    }
    expect((await server.get(path)).json).toEqual(changed.json)
    // As a proxy that compresses makes it.
    expect((await ask('PUT', { capacity: 6 }, ifMatch(`W/${changed.headers.etag}`))).status).toBe(200)
    expect((await ask('PUT', { capacity: 7 }, ifMatch('*'))).json.own).toEqual({ capacity: 7 })
  })

  test('PUT with If-None-Match: * creates, and answers 412 with what is there', async () => {
    const path = `/v1/groups/${fresh()}`
    const made = await server.ensure(path, { capacity: 3 })
    expect([made.status, made.headers.etag, made.headers.location]).toEqual([201, `"${made.json.tag}"`, path])
    const again = await server.ensure(path, { capacity: 4 })
    expect([again.status, again.json]).toMatchObject([412, { code: 'already_exists', existing: made.json }])
    expect((await server.get(path)).json).toEqual(made.json)
  })

  test.each([
    ['PUT', { 'If-None-Match': '"a"' }, 'If-None-Match'],
    ['PUT', { 'If-None-Match': '*', 'If-Match': '"a"' }, 'If-None-Match'],
    ['PATCH', { 'If-None-Match': '*' }, 'If-None-Match'],
    ['PUT', { 'If-Match': 'a' }, 'If-Match'],
    ['PATCH', { 'If-Match': '"a", "b"' }, 'If-Match'],
  ])('%s with %j is refused', async (method, headers, parameter) => {
    const { status, json } = await server.request(method, `/v1/groups/${fresh()}`, { json: {}, headers })
    expect([status, json.errors]).toMatchObject([400, [{ parameter }]])
  })

  test('a GET with If-None-Match is answered with what is there: the tag says nothing of counts', async () => {
    const path = `/v1/groups/${fresh()}`
    const { headers } = await server.put(path, {})
    await server.post(`${path}/items`, {})
    const got = await server.get(path, { 'If-None-Match': String(headers.etag) })
    expect([got.status, got.json.totalAppended, got.headers.etag]).toEqual([200, '1', headers.etag])
  })

  test('takes null as not given, but ttlSeconds null as never', async () => {
    const prefix = fresh('ttl')
    await server.put(`/v1/policies/${prefix}`, { capacity: 7, mode: 'distinct', ttlSeconds: 30 })
    const group = `${prefix}:1`
    const followed = await server.put(`/v1/groups/${group}`, { capacity: null, mode: null })
    expect(followed.json).toMatchObject({ capacity: 7, mode: 'distinct', ttlSeconds: 30 })
    const never = await server.put(`/v1/groups/${group}`, { ttlSeconds: null })
    expect(never.json).toMatchObject({ capacity: 7, mode: 'distinct', ttlSeconds: null })
    const own = async () => [followed.json.own, (await server.get(`/v1/groups/${group}`)).json.own]
    expect([await own(), never.json.policy]).toEqual([[{}, { ttlSeconds: null }], prefix])
  })

  test('GET and DELETE of an unknown one are 404; DELETE forgets', async () => {
    const group = fresh()
    for (const method of ['GET', 'DELETE']) {
      const answer = await server.request(method, `/v1/groups/${group}`)
      expect([answer.status, answer.json.code]).toEqual([404, 'group_not_found'])
    }
    for (const id of ['0', '1']) expect((await server.post(`/v1/groups/${group}/items`, {})).json.id).toBe(id)
    const gone = await server.delete(`/v1/groups/${group}`)
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect((await server.post(`/v1/groups/${group}/items`, {})).json.id).toBe('0')
  })

  test('a capacity made smaller keeps the newest', async () => {
    const group = fresh()
    for (let i = 0; i < 5; i++) await server.post(`/v1/groups/${group}/items`, {})
    await server.put(`/v1/groups/${group}`, { capacity: 2 })
    expect((await server.get(`/v1/groups/${group}/items`)).json).toMatchObject({ items: [{ id: '4' }, { id: '3' }] })
  })
})

describe('GET /v1/groups', () => {
  test('lists by name, in pages', async () => {
    const prefix = fresh('list')
    for (const name of ['c', 'a', 'b']) await server.put(`/v1/groups/${prefix}:${name}`, {})
    const first = await server.get(`/v1/groups?prefix=${prefix}:&limit=2`)
    expect(first.json).toMatchObject({ groups: [{ group: `${prefix}:a` }, { group: `${prefix}:b` }] })
    const after = encodeURIComponent(String(first.json.nextAfter))
    const second = await server.get(`/v1/groups?prefix=${prefix}:&limit=2&after=${after}`)
    expect(second.json).toEqual({
      groups: [
        {
          ...{ group: `${prefix}:c`, capacity: 10, mode: 'history', ttlSeconds: null, forgetEmptySeconds: null },
          ...{ own: {}, policy: null, tag: TAG, totalAppended: '0', createdAt: TIME },
        },
      ],
      nextAfter: null,
    })
  })

  test('takes an empty prefix for none', async () => {
    await server.put(`/v1/groups/${fresh()}`, {})
    const all = await server.get('/v1/groups')
    expect((await server.get('/v1/groups?prefix=')).json).toEqual(all.json)
    expect(JSON.parse(all.text).groups.length).toBeGreaterThan(0)
  })
})

describe('/v1/policies', () => {
  test('PUT creates with 201 and replaces with 200; GET, DELETE', async () => {
    const times = { ttlSeconds: 5, forgetEmptySeconds: 9 }
    const prefix = fresh('policy/')
    const path = `/v1/policies/${encodeURIComponent(prefix)}`
    expect((await server.get(path)).json.code).toBe('policy_not_found')
    const created = await server.put(path, { ...times, capacity: 3, mode: 'distinct', ttlSeconds: null })
    const made = { prefix, capacity: 3, mode: 'distinct', ...times, ttlSeconds: null, tag: TAG }
    expect([created.status, created.json]).toEqual([201, made])
    expect(created.headers.location).toBe(`/v1/policies/${encodeURIComponent(prefix)}`)
    const replaced = await server.put(path, { capacity: 4, mode: 'history', ...times })
    expect([replaced.status, replaced.json]).toEqual([
      200,
      { prefix, capacity: 4, mode: 'history', ...times, tag: TAG },
    ])
    expect((await server.get(path)).json).toEqual(replaced.json)
    const patched = await server.request('PATCH', path, { json: { capacity: 5, forgetEmptySeconds: null } })
    const changed = { ...replaced.json, capacity: 5, forgetEmptySeconds: null, tag: TAG }
    expect([patched.status, patched.json]).toEqual([200, changed])
    expect((await server.ensure(path, { capacity: 9, mode: 'history' })).json.existing).toEqual(patched.json)
    expect((await server.delete(path)).status).toBe(204)
    expect((await server.delete(path)).status).toBe(404)
  })

  test('a group made after the answer follows them, the longest prefix wins', async () => {
    const prefix = fresh('long')
    await server.put(`/v1/policies/${prefix}`, { capacity: 3, mode: 'history' })
    await server.put(`/v1/policies/${prefix}:x`, { capacity: 4, mode: 'distinct' })
    await server.post('/v1/items', { items: [{ group: `${prefix}:a` }, { group: `${prefix}:xy`, member: 'm' }] })
    expect((await server.get(`/v1/groups/${prefix}:a`)).json).toMatchObject({ capacity: 3, mode: 'history' })
    expect((await server.get(`/v1/groups/${prefix}:xy`)).json).toMatchObject({ capacity: 4, mode: 'distinct' })
  })

  test('POST …/losses counts what a change or a deletion would remove, and changes nothing', async () => {
    const prefix = fresh('loss')
    const [policy, group] = [`/v1/policies/${prefix}`, `/v1/groups/${prefix}:1`]
    await server.put(policy, { capacity: 20, mode: 'history' })
    for (let i = 0; i < 12; i++) await server.post(`${group}/items`, {})
    const none = { groups: 1, losingGroups: 0, items: 0, isExact: true }
    const lost = (items: number) => ({ ...none, losingGroups: 1, items })
    const counted = async (path: string, body?: object) => {
      const { status, json } = await server.request('POST', `${path}/losses`, body && { json: body })
      return [status, json]
    }
    expect(await counted(policy, { capacity: 5, mode: 'history' })).toEqual([200, lost(7)])
    // Without the policy the group has the default of 10.
    expect(await counted(policy)).toEqual([200, lost(2)])
    expect(await counted(group, { capacity: 20 })).toEqual([200, none])
    expect(await counted(group, { capacity: 1 })).toEqual([200, lost(11)])
    expect(await counted(policy, { capacity: 5 })).toMatchObject([400, { errors: [{ pointer: '/mode' }] }])
    expect((await server.get(`${group}/items?limit=20`)).json.items).toHaveLength(12)
  })

  test('are listed by prefix, in pages', async () => {
    const { text } = await server.get('/v1/policies')
    const all = JSON.parse(text).policies
    expect(all.length).toBeGreaterThan(1)
    const first = await server.get('/v1/policies?limit=1')
    expect(first.json.policies).toEqual([all[0]])
    const second = await server.get(`/v1/policies?limit=1&after=${encodeURIComponent(String(first.json.nextAfter))}`)
    expect(second.json.policies).toEqual([all[1]])
  })

  test('an item needs a member in a distinct group: named where it is in the request', async () => {
    const group = fresh()
    await server.put(`/v1/groups/${group}`, { mode: 'distinct' })
    const one = await server.post(`/v1/groups/${group}/items`, {})
    expect([one.status, one.json.errors]).toEqual([400, [{ pointer: '/member', detail: expect.any(String) }]])
    const items = [{ group: fresh() }, { group, member: 'm' }, { group }]
    const many = await server.post('/v1/items', { items })
    expect([many.status, many.json.errors]).toEqual([400, [{ pointer: '/items/2/member', detail: expect.any(String) }]])
    expect((await server.get(`/v1/groups/${group}`)).json.totalAppended).toBe('0')
  })
})

describe('/v1/members/{member}/items', () => {
  test('lists what one did everywhere, newest first, in pages', async () => {
    const member = fresh('member/')
    const [a, b] = [fresh(), fresh()]
    for (const group of [a, b, a]) await server.post(`/v1/groups/${group}/items`, { member, payload: { g: group } })
    await server.post(`/v1/groups/${a}/items`, { member: 'other' })
    const path = `/v1/members/${encodeURIComponent(member)}/items`
    const whole = JSON.parse((await server.get(path)).text)
    expect(whole.nextBefore).toBeNull()
    expect(whole.items).toHaveLength(3)
    expect(whole.items).toEqual(
      expect.arrayContaining([expect.objectContaining({ group: b, member, payload: { g: b }, id: '0' })]),
    )
    const first = await server.get(`${path}?limit=2`)
    expect(first.json.items).toEqual(whole.items.slice(0, 2))
    const before = encodeURIComponent(String(first.json.nextBefore))
    expect((await server.get(`${path}?limit=2&before=${before}`)).json).toEqual({
      items: whole.items.slice(2),
      nextBefore: null,
    })
  })

  test('erases them', async () => {
    const member = fresh('member')
    const [a, b] = [fresh(), fresh()]
    const items = [a, b, a].map((group) => ({ group, member }))
    await server.post('/v1/items', { items: [...items, { group: a, member: 'stays' }] })
    const path = `/v1/members/${member}/items`
    const erased = await server.delete(path)
    expect([erased.status, erased.json]).toEqual([200, { deleted: 3 }])
    expect((await server.delete(path)).json).toEqual({ deleted: 0 })
    expect((await server.get(path)).json).toEqual({ items: [], nextBefore: null })
    expect((await server.get(`/v1/groups/${a}/items`)).json).toMatchObject({ items: [{ member: 'stays' }] })
  })

  test('in groups whose names begin with a prefix', async () => {
    const [member, a, b] = [fresh('member'), fresh('a'), fresh('b')]
    await server.post('/v1/items', { items: [a, b, `${a}/1`].map((group) => ({ group, member })) })
    const path = `/v1/members/${member}/items`
    const groups = async (prefix: string) =>
      JSON.parse((await server.get(`${path}?prefix=${prefix}`)).text)
        .items.map(({ group }: { group: string }) => group)
        .sort()
    expect([await groups(a), await groups(b), await groups('zzz')]).toEqual([[a, `${a}/1`], [b], []])
    expect((await server.delete(`${path}?prefix=${a}/`)).json).toEqual({ deleted: 1 })
    expect(await groups('')).toEqual([a, b])
  })
})
