import { type Client, fresh, startApp } from './support/client'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

let server: Client
beforeAll(async () => {
  server = await startApp()
})

const items = (group: string) => `/v1/groups/${encodeURIComponent(group)}/items`

/** Appends `count` items, members m0, m1 and so on. */
async function fill(group: string, count: number): Promise<void> {
  const batch = Array.from({ length: count }, (_, i) => ({ group, member: `m${i}` }))
  expect((await server.post('/v1/items', { items: batch })).status).toBe(201)
}

async function idsOf(path: string): Promise<string[]> {
  const { status, text } = await server.get(path)
  expect(status).toBe(200)
  return JSON.parse(text).items.map((item: { id: string }) => item.id)
}

describe('POST /v1/groups/{group}/items', () => {
  test('answers 201 with the item, null for what was not given', async () => {
    const group = fresh()
    const answer = await server.post(items(group), {})
    expect(answer.status).toBe(201)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.json).toEqual({
      group,
      id: '0',
      slot: 0,
      member: null,
      score: null,
      payload: null,
      occurredAt: null,
      eventId: null,
      createdAt: expect.stringMatching(TIME),
    })
  })

  test('keeps what was given; times in UTC, cut to milliseconds', async () => {
    const group = fresh()
    const given = {
      member: 'ü 1',
      payload: { a: [1, null] },
      occurredAt: '2026-11-21T12:00:00.1239+02:00',
      eventId: 'e',
    }
    const { json } = await server.post(items(group), given)
    expect(json).toMatchObject({ ...given, occurredAt: '2026-11-21T10:00:00.123Z' })
    expect((await server.get(items(group))).json.items).toEqual([json])
  })

  test('takes null as not given', async () => {
    const answer = await server.post(items(fresh()), { member: null, payload: null, occurredAt: null, eventId: null })
    expect(answer.status).toBe(201)
    expect(answer.json).toMatchObject({ member: null, payload: null, occurredAt: null, eventId: null })
  })

  test('answers an eventId that is there with 200 and that item', async () => {
    const group = fresh()
    const first = await server.post(items(group), { eventId: 'once', payload: 1 })
    const again = await server.post(items(group), { eventId: 'once', payload: 2 })
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.json).toEqual(first.json)
    expect((await server.get(items(group))).json.totalAppended).toBe('1')
  })

  test.each(['a/b', 'a b', 'ä', '%', '日本', 'a?b=c#d', '...', '__proto__', 'constructor', '😀'])(
    'has a group named %s',
    async (name) => {
      expect((await server.post(items(name), {})).json.group).toBe(name)
      expect((await server.get(items(name))).json).toMatchObject({ group: name, totalAppended: '1' })
    },
  )
})

test('every read of items goes without payloads where that is asked for', async () => {
  const group = fresh()
  const member = fresh('member')
  const payload = 'x'.repeat(60_000)
  await server.post(items(group), { member, payload, eventId: 'e' })
  const paths = [items(group), `/v1/items?group=${group}`, `/v1/members/${member}/items`]
  for (const path of paths) {
    const { text } = await server.get(path)
    const bare = await server.get(`${path}${path.includes('?') ? '&' : '?'}payloads=none`)
    expect([path, bare.status, bare.text]).toEqual([path, 200, text.replace(`"${payload}"`, 'null')])
    expect((await server.get(`${path}${path.includes('?') ? '&' : '?'}payloads=value`)).text).toBe(text)
  }
  expect((await server.get(`${items(group)}?payloads=text`)).json.errors).toEqual([
    { parameter: 'payloads', detail: 'must be one of value, none' },
  ])
})

describe('POST /v1/items', () => {
  test('answers where each item is, in the order given', async () => {
    const [a, b] = [fresh(), fresh()]
    const answer = await server.post('/v1/items', { items: [{ group: a }, { group: b }, { group: a }] })
    expect(answer.status).toBe(201)
    expect(answer.json).toEqual({
      items: [
        { group: a, id: '0', slot: 0, appended: true },
        { group: b, id: '0', slot: 0, appended: true },
        { group: a, id: '1', slot: 1, appended: true },
      ],
    })
  })

  test('answers the place that an eventId has, and whether each item was appended', async () => {
    const group = fresh()
    const one = { group, eventId: 'x' }
    const first = { group, id: '0', slot: 0, appended: true }
    const again = { ...first, appended: false }
    const some = await server.post('/v1/items', { items: [one, { group }, one] })
    expect([some.status, some.json]).toEqual([201, { items: [first, { ...first, id: '1', slot: 1 }, again] }])
    const none = await server.post('/v1/items', { items: [one, one] })
    expect([none.status, none.json]).toEqual([200, { items: [again, again] }])
  })

  test('takes 1,000 and stores none of them when one is refused', async () => {
    const group = fresh()
    await fill(group, 1000)
    expect((await server.get(items(group))).json.totalAppended).toBe('1000')
    const bad = Array.from({ length: 1000 }, (_, i) => ({ group, member: i === 999 ? '' : 'm' }))
    const refused = await server.post('/v1/items', { items: bad })
    expect(refused.status).toBe(400)
    expect(refused.json.errors).toEqual([{ pointer: '/items/999/member', detail: 'must not be empty' }])
    expect((await server.get(items(group))).json.totalAppended).toBe('1000')
  })
})

describe('GET /v1/groups/{group}/items', () => {
  test('answers the newest first, ten unless told otherwise', async () => {
    const group = fresh()
    await fill(group, 12)
    const { json } = await server.get(items(group))
    expect(json).toMatchObject({ group, capacity: 10, mode: 'history', totalAppended: '12', nextBefore: null })
    expect(await idsOf(items(group))).toEqual(['11', '10', '9', '8', '7', '6', '5', '4', '3', '2'])
  })

  test('pages with limit and before', async () => {
    const group = fresh()
    await fill(group, 5)
    const first = await server.get(`${items(group)}?limit=2`)
    expect(first.json).toMatchObject({ nextBefore: '3', items: [{ id: '4' }, { id: '3' }] })
    const second = await server.get(`${items(group)}?limit=2&before=3`)
    expect(second.json).toMatchObject({ nextBefore: '1', items: [{ id: '2' }, { id: '1' }] })
    const last = await server.get(`${items(group)}?limit=2&before=1`)
    expect(last.json).toMatchObject({ nextBefore: null, items: [{ id: '0' }] })
  })

  test('leaves members out', async () => {
    const group = fresh()
    await fill(group, 4)
    expect(await idsOf(`${items(group)}?exclude=m1&exclude=m3`)).toEqual(['2', '0'])
    const hundred = Array.from({ length: 100 }, (_, i) => `exclude=m${i}`).join('&')
    expect(await idsOf(`${items(group)}?${hundred}`)).toEqual([])
  })

  test('takes as many of the longest names as 16 KiB have room for, and a hundred shorter ones', async () => {
    const long = encodeURIComponent('😀'.repeat(190))
    const excluding = (count: number, name: string) => {
      const query = Array.from({ length: count }, (_, i) => `exclude=${name}${i}`).join('&')
      return server.get(`${items(fresh())}?${query}`)
    }
    expect((await excluding(7, long)).status).toBe(200)
    expect((await excluding(100, 'x'.repeat(150))).status).toBe(200)
    const answer = await excluding(8, long)
    expect([answer.status, answer.json.type]).toEqual([414, 'about:blank'])
  })

  test('answers a group that does not exist with nothing', async () => {
    const group = fresh()
    const { status, json } = await server.get(items(group))
    expect(status).toBe(200)
    expect(json).toEqual({ group, capacity: 10, mode: 'history', totalAppended: '0', items: [], nextBefore: null })
  })

  test('stops at about 4 MiB and says where to continue', async () => {
    const group = fresh()
    await server.put(`/v1/groups/${group}`, { capacity: 100 })
    const payload = 'x'.repeat(64 * 1024 - 2)
    for (let i = 0; i < 80; i++) expect((await server.post(items(group), { payload })).status).toBe(201)
    const first = await server.get(`${items(group)}?limit=100`)
    expect(first.text.length).toBeLessThan(4.5 * 1024 * 1024)
    expect(first.text.length).toBeGreaterThan(3.5 * 1024 * 1024)
    const rest = await idsOf(`${items(group)}?limit=100&before=${first.json.nextBefore}`)
    expect(rest.length).toBeGreaterThan(0)
    expect(rest.at(-1)).toBe('0')
    expect(JSON.parse(first.text).items.length + rest.length).toBe(80)

    const other = fresh()
    for (let i = 0; i < 2; i++) expect((await server.post(items(other), { payload })).status).toBe(201)
    const many = await server.get(`/v1/items?limit=80&group=${group}&group=${other}`)
    expect(many.text.length).toBeLessThan(4.6 * 1024 * 1024)
    const pages = JSON.parse(many.text).groups
    expect(pages[1].items).toHaveLength(1)
    expect(pages[0].nextBefore).toBe(pages[0].items.at(-1).id)
    expect(pages[1].nextBefore).toBe('1')
  })
})

describe('GET /v1/items', () => {
  test('answers each group, in the order asked', async () => {
    const [a, b, none] = [fresh(), fresh(), fresh()]
    await fill(a, 3)
    await fill(b, 2)
    const answer = await server.get(`/v1/items?group=${b}&group=${none}&group=${a}&limit=2&exclude=m1`)
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      groups: [
        {
          group: b,
          capacity: 10,
          mode: 'history',
          totalAppended: '2',
          items: [expect.objectContaining({ id: '0' })],
          nextBefore: null,
        },
        { group: none, capacity: 10, mode: 'history', totalAppended: '0', items: [], nextBefore: null },
        {
          group: a,
          capacity: 10,
          mode: 'history',
          totalAppended: '3',
          items: [expect.objectContaining({ id: '2' }), expect.objectContaining({ id: '0' })],
          nextBefore: null,
        },
      ],
    })
  })
})

describe('GET /v1/groups/{group}/items/{id}', () => {
  test('answers the item as it was appended; 404 when the window has none of this id', async () => {
    const group = fresh('one/')
    const path = items(group)
    const appended = await server.post(path, { member: 'm', payload: { long: 1.1 }, eventId: 'e' })
    const { location } = appended.headers
    expect(location).toBe(`${path}/0`)
    const answer = await server.get(String(location))
    expect([answer.status, answer.text]).toEqual([200, appended.text])
    const again = await server.post(path, { eventId: 'e' })
    expect([again.status, again.headers.location]).toEqual([200, undefined])
    await server.delete(`${path}/0`)
    for (const id of ['0', '1', '9223372036854775807']) {
      const missing = await server.get(`${path}/${id}`)
      expect([id, missing.status, missing.json.code]).toEqual([id, 404, 'item_not_found'])
    }
    const wrong = await server.get(`${path}/-1?payloads=none`)
    expect([wrong.status, wrong.json.errors]).toEqual([
      400,
      [
        { parameter: 'id', detail: expect.any(String) },
        { parameter: 'payloads', detail: 'is not a known parameter' },
      ],
    ])
  })
})

describe('DELETE items', () => {
  test('empties a group; ids continue', async () => {
    const group = fresh()
    await fill(group, 3)
    const answer = await server.delete(items(group))
    expect([answer.status, answer.json]).toEqual([200, { deleted: 3 }])
    expect((await server.delete(items(fresh()))).json).toEqual({ deleted: 0 })
    expect((await server.post(items(group), {})).json.id).toBe('3')
  })

  test('removes one; its id is never used again', async () => {
    const group = fresh()
    await fill(group, 3)
    const gone = await server.delete(`${items(group)}/2`)
    expect([gone.status, gone.text]).toEqual([204, ''])
    const again = await server.delete(`${items(group)}/2`)
    expect([again.status, again.json.code]).toEqual([404, 'item_not_found'])
    expect((await server.post(items(group), {})).json.id).toBe('3')
    expect(await idsOf(items(group))).toEqual(['3', '1', '0'])
    expect((await server.delete(`${items(group)}/9223372036854775807`)).status).toBe(404)
  })
})

describe('HEAD', () => {
  test('answers as GET does, without the body', async () => {
    const group = fresh()
    const get = await server.get(items(group))
    const head = await server.request('HEAD', items(group))
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.etag).toBe(get.headers.etag)
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  })
})
