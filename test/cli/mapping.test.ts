import { type AccessLogEntry, parseAccessLogLine } from '../../src/cli/access-log'
import {
  eventIdBase,
  eventIdOf,
  GROUP_FIELDS,
  type Mapping,
  MEMBER_FIELDS,
  mapEntry,
  PAYLOAD_FIELDS,
} from '../../src/cli/mapping'
import { nameFault } from '../../src/fields/rules'

const LINE =
  '2001:db8::7 - fred [17/May/2015:10:05:03 +0200] "GET http://shop.example/a/b?c=1 HTTP/1.1" 404 12 "http://r.example/" "curl/8"'

const entryOf = (line: string) => parseAccessLogLine(Buffer.from(line)).entry as AccessLogEntry
const mapping = (part: Partial<Mapping> = {}): Mapping => ({
  group: 'path',
  groupPrefix: '',
  member: 'address',
  payload: ['method', 'status', 'userAgent'],
  memberRequired: false,
  ...part,
})

describe('an item made of a request', () => {
  it('has the path as its group and the client as its member', () => {
    expect(mapEntry(entryOf(LINE), mapping()).item).toEqual({
      group: '/a/b',
      member: '2001:db8::7',
      occurredAt: new Date('2015-05-17T08:05:03Z'),
      payload: { method: 'GET', status: 404, userAgent: 'curl/8' },
    })
  })

  it('takes its group from any field', () => {
    const groups = GROUP_FIELDS.map(
      (group) => mapEntry(entryOf(LINE), mapping({ group, groupPrefix: 'x:' })).item?.group,
    )
    const fields = ['/a/b', '/a/b?c=1', '404', 'curl/8', 'http://r.example/', 'GET', 'fred']
    expect(groups).toEqual(fields.map((field) => `x:${field}`))
  })

  it('takes its member from any field, or has none', () => {
    const members = MEMBER_FIELDS.map((member) => mapEntry(entryOf(LINE), mapping({ member })).item?.member)
    expect(members).toEqual(['2001:db8::7', 'fred', 'curl/8', null])
  })

  it('has the payload that was asked for, or none', () => {
    expect(mapEntry(entryOf(LINE), mapping({ payload: PAYLOAD_FIELDS })).item?.payload).toEqual({
      method: 'GET',
      status: 404,
      userAgent: 'curl/8',
      referrer: 'http://r.example/',
      bytes: 12,
      target: 'http://shop.example/a/b?c=1',
      protocol: 'HTTP/1.1',
    })
    expect(mapEntry(entryOf(LINE), mapping({ payload: [] })).item).not.toHaveProperty('payload')
  })

  const request = (target: string) => `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET ${target} HTTP/1.1" 200 1`
  it.each<[string, string, Partial<Mapping>, RegExp]>([
    ['no request', '192.0.2.1 - - [17/May/2015:10:05:03 +0000] "-" 408 -', {}, /^has no path to name the group by$/],
    ['no user', request('/'), { group: 'user' }, /^has no user to name the group by$/],
    ['a path that is too long', request(`/${'é'.repeat(191)}`), {}, /^has a path that .* at most 191 characters$/],
    ['a path too long with its prefix', request(`/${'x'.repeat(190)}`), { groupPrefix: 'y' }, /at most 191/],
    ['a control character', request('/a\\x00b'), {}, /^has a path that .* control characters$/],
    ['a dot for a path', request('.'), {}, /neither "." nor ".."/],
    [
      'a member that is too long',
      `${'h'.repeat(192)} - ${request('/').slice(12)}`,
      {},
      /^has a member \(address\) that is no name/,
    ],
    [
      'no member where one is needed',
      request('/'),
      { member: 'user', memberRequired: true },
      /no user to be the member/,
    ],
    [
      'a payload over 64 KiB',
      `${request('/')} "-" "${'\\x01'.repeat(12_000)}"`,
      {},
      /^makes a payload that must have at most 64 KiB/,
    ],
  ])('is refused for %s', (_, line, part, reason) => {
    expect(mapEntry(entryOf(line), mapping(part)).reason).toMatch(reason)
  })

  it('may have a name of just 191 characters', () => {
    expect(mapEntry(entryOf(request(`/${'é'.repeat(190)}`)), mapping()).item?.group).toHaveLength(191)
  })
})

describe('an event id', () => {
  const line = Buffer.from(LINE)

  it('is the same for the same line of the same file, wherever that is', () => {
    expect(eventIdOf(eventIdBase('/var/log/access.log'), 7, line)).toBe(eventIdOf(eventIdBase('access.log'), 7, line))
  })

  it('differs by file, by number and by what the line says', () => {
    const ids = [
      eventIdOf(eventIdBase('a.log'), 7, line),
      eventIdOf(eventIdBase('b.log'), 7, line),
      eventIdOf(eventIdBase('a.log'), 8, line),
      eventIdOf(eventIdBase('a.log'), 7, Buffer.from(`${LINE} `)),
    ]
    expect(new Set(ids).size).toBe(4)
  })

  it.each(['-', 'x'.repeat(255), 'a\nb', 'ein Protokoll é.gz'])('is a name, also of the file %j', (name) => {
    expect(nameFault(eventIdOf(eventIdBase(name), Number.MAX_SAFE_INTEGER, line))).toBeNull()
  })
})
