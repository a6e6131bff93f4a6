import fc from 'fast-check'
import { type AccessLogEntry, hostless, parseAccessLogLine, pathOf } from '../../src/cli/access-log'
import { stopwatch } from '../support/timing'

const parse = (line: string | Buffer) => parseAccessLogLine(Buffer.from(line as string))

function entryOf(line: string | Buffer): AccessLogEntry {
  const parsed = parse(line)
  if (!parsed.entry) throw new Error(parsed.reason)
  return parsed.entry
}

const combined = (part: { request?: string; time?: string; agent?: string; rest?: string; head?: string } = {}) =>
  `${part.head ?? '192.0.2.7 - -'} [${part.time ?? '17/May/2015:10:05:03 +0000'}] "${part.request ?? 'GET /a HTTP/1.1'}" ` +
  `200 12 "-" "${part.agent ?? 'curl/8.0'}"${part.rest ?? ''}`

describe('a line of an access log', () => {
  it('in combined format', () => {
    expect(
      entryOf(
        '83.149.9.216 - frank [17/May/2015:10:05:03 -0130] "GET /a/b.png?x=1&y HTTP/1.1" 200 203023 "http://example.org/" "Mozilla/5.0 (X11)"',
      ),
    ).toEqual({
      address: '83.149.9.216',
      user: 'frank',
      time: new Date('2015-05-17T11:35:03Z'),
      method: 'GET',
      target: '/a/b.png?x=1&y',
      protocol: 'HTTP/1.1',
      status: 200,
      bytes: 203023,
      referrer: 'http://example.org/',
      userAgent: 'Mozilla/5.0 (X11)',
    })
  })

  it('in common format', () => {
    const entry = entryOf('2001:db8::1 - - [29/Feb/2024:23:59:59 +0100] "HEAD / HTTP/2.0" 304 -')
    expect(entry).toMatchObject({ address: '2001:db8::1', user: null, method: 'HEAD', status: 304, bytes: 0 })
    expect(entry).toMatchObject({ referrer: null, userAgent: null, time: new Date('2024-02-29T22:59:59Z') })
  })

  it.each([
    ['::1', '::1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['crawler.example.org', 'crawler.example.org'],
  ])('from the client %s', (written, address) => {
    expect(entryOf(combined({ head: `${written} - -` })).address).toBe(address)
  })

  it('with a user name that has spaces and brackets in it', () => {
    expect(entryOf(combined({ head: '192.0.2.7 - john [the second] smith' })).user).toBe('john [the second] smith')
  })

  it.each([
    ['a quote as Apache writes it', String.raw`say \"hi\"`, 'say "hi"'],
    ['a quote as nginx writes it', String.raw`say \x22hi\x22`, 'say "hi"'],
    ['a backslash at the end', String.raw`C:\\`, 'C:\\'],
    ['a backslash as nginx writes it', String.raw`C:\x5Cx`, 'C:\\x'],
    ['control characters', String.raw`a\tb\nc\x00`, 'a\tb\nc\0'],
    ['UTF-8, escaped', String.raw`\xc3\xa9t\xC3\xA9 \xf0\x9f\x98\x80`, 'été 😀'],
    ['bytes that are not UTF-8, escaped', String.raw`\xe4\xf6 \xc3`, String.raw`\xe4\xf6 \xc3`],
    [
      'surrogates and overlong forms, which are not UTF-8',
      String.raw`\xed\xa0\x80\xc0\xaf`,
      String.raw`\xed\xa0\x80\xc0\xaf`,
    ],
    ['an escape that is none', String.raw`\d \xZZ \'`, String.raw`\d \xZZ \'`],
    ['nothing', '', ''],
  ])('with %s in the user agent', (_, written, agent) => {
    expect(entryOf(combined({ agent: written })).userAgent).toBe(agent)
  })

  it('with raw bytes, UTF-8 and not', () => {
    const line = Buffer.concat([
      Buffer.from('192.0.2.7 - - [17/May/2015:10:05:03 +0000] "GET /é'),
      Buffer.from([0xe4, 0xff]),
      Buffer.from(' HTTP/1.1" 200 1'),
    ])
    expect(entryOf(line).target).toBe(String.raw`/é\xe4\xff`)
  })

  it.each([
    ['GET / HTTP/1.1', 'GET', '/', 'HTTP/1.1'],
    ['GET /with spaces in it HTTP/1.1', 'GET', '/with spaces in it', 'HTTP/1.1'],
    ['GET /old', 'GET', '/old', null],
    ['OPTIONS * HTTP/1.0', 'OPTIONS', '*', 'HTTP/1.0'],
    ['CONNECT example.org:443 HTTP/1.1', 'CONNECT', 'example.org:443', 'HTTP/1.1'],
    ['M-SEARCH /x HTTP/1.1', 'M-SEARCH', '/x', 'HTTP/1.1'],
    ['PRI * HTTP/2', 'PRI', '*', 'HTTP/2'],
    ['-', null, null, null],
    ['', null, null, null],
    ['GET', null, null, null],
    ['GET  HTTP/1.1', null, null, null],
    ['t3 12.2.1', null, null, null],
    [String.raw`\x16\x03\x01\x00 \x01`, null, null, null],
  ])('with the request "%s"', (request, method, target, protocol) => {
    expect(entryOf(combined({ request }))).toMatchObject({ method, target, protocol })
  })

  it('with more fields than the format has', () => {
    expect(entryOf(combined({ rest: ' "203.0.113.9, 10.0.0.1" 0.004' })).userAgent).toBe('curl/8.0')
    expect(entryOf('192.0.2.7 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 12 0.004').userAgent).toBeNull()
  })

  it.each([
    ['nothing', 'x', 'does not begin with'],
    ['another format', '2015-05-17T10:05:03Z INFO started', 'no time'],
    ['no user', '192.0.2.7 - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1', 'no user'],
    ['a request that never ends', '192.0.2.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1', 'not quoted'],
    ['an escaped closing quote', String.raw`192.0.2.7 - - [17/May/2015:10:05:03 +0000] "GET /\" 200 1`, 'not quoted'],
    ['text behind a closing quote', combined({ request: 'GET /"x HTTP/1.1' }), 'not quoted'],
    ['no status', '192.0.2.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" OK 1', 'no status'],
    ['a size that is none', '192.0.2.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 12k', 'no status'],
    ['a quote inside the user agent', combined({ agent: 'a "b" c' }), 'user agent'],
    ['a line that was cut off', combined().slice(0, -1), 'user agent'],
    ['a referrer alone', '192.0.2.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "x"', 'user agent'],
  ])('is refused: %s', (_, line, reason) => {
    expect(parse(line).reason).toContain(reason)
  })

  it.each([
    '31/Feb/2015:10:05:03 +0000',
    '29/Feb/2015:10:05:03 +0000',
    '00/May/2015:10:05:03 +0000',
    '17/Mai/2015:10:05:03 +0000',
    '17/May/2015:24:00:00 +0000',
    '17/May/2015:10:60:03 +0000',
    '17/May/2015:10:05:60 +0000',
    '17/May/2015:10:05:03 +2400',
    '17/May/2015:10:05:03 +0060',
    '17/May/0015:10:05:03 +0000',
    '31/Dec/1969:23:59:59 +0000',
    '31/Dec/9999:23:59:59 -0001',
  ])('is refused at the time %s', (time) => {
    expect(parse(combined({ time })).reason).toBe(`has an impossible time: ${time}`)
  })

  it('is taken at the first and at the last time there is', () => {
    expect(entryOf(combined({ time: '31/Dec/1969:22:00:00 -0200' })).time.getTime()).toBe(0)
    expect(entryOf(combined({ time: '31/Dec/9999:23:59:59 +0000' })).time.toISOString()).toBe(
      '9999-12-31T23:59:59.000Z',
    )
  })

  it.each([
    ['brackets', `1 - ${' ['.repeat(32_000)}`],
    ['times', `1 - ${' [17/May/2015:10:05:03 +0000]'.repeat(2200)}`],
    ['backslashes', combined({ request: '\\'.repeat(64_001) })],
    ['quotes', combined({ request: '"'.repeat(64_000) })],
    ['spaces', combined({ request: ' '.repeat(64_000) })],
    ['bytes that are not UTF-8', combined({ agent: '\\xf0\\x90\\x80'.repeat(5000) })],
  ])('is read in linear time when it is full of %s', (_, line) => {
    const watch = stopwatch()
    parse(line)
    // Milliseconds, where quadratic time is many seconds.
    expect(watch.isBeyond(5000)).toBe(false)
  })
})

describe('format and parse', () => {
  const HEX = (byte: number) => `\\x${byte.toString(16).padStart(2, '0')}`
  /** As Apache does it. */
  const apache = (text: string) =>
    Array.from(Buffer.from(text), (byte) => {
      if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
      return byte < 0x20 || byte > 0x7e ? HEX(byte) : String.fromCharCode(byte)
    }).join('')
  /** As nginx does it. */
  const nginx = (text: string) =>
    Array.from(Buffer.from(text), (byte) => {
      const escaped = byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
      return escaped ? HEX(byte).toUpperCase().replace('X', 'x') : String.fromCharCode(byte)
    }).join('')

  const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
  const two = (value: number) => String(value).padStart(2, '0')
  const timeText = (time: Date, offsetMinutes: number) => {
    const local = new Date(time.getTime() + offsetMinutes * 60_000)
    const [size, sign] = [Math.abs(offsetMinutes), offsetMinutes < 0 ? '-' : '+']
    const day = `${two(local.getUTCDate())}/${MONTHS[local.getUTCMonth()]}/${local.getUTCFullYear()}`
    const clock = [local.getUTCHours(), local.getUTCMinutes(), local.getUTCSeconds()].map(two).join(':')
    return `${day}:${clock} ${sign}${two(Math.floor(size / 60))}${two(size % 60)}`
  }

  const field = fc.string({ unit: 'binary', maxLength: 60 })
  const token = fc.stringMatching(/^[A-Z]{1,10}$/)
  const words = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).filter((text) => !text.includes(' '))

  it.each([
    ['Apache', apache],
    ['nginx', nginx],
  ])('agree on everything that %s can write', (_, written) => {
    fc.assert(
      fc.property(
        fc.record({
          address: fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()),
          time: fc.date({ min: new Date(86_400_000), max: new Date('9999-12-30'), noInvalidDate: true }),
          offset: fc.integer({ min: -1439, max: 1439 }),
          method: token,
          target: words,
          status: fc.integer({ min: 100, max: 599 }),
          bytes: fc.nat(),
          referrer: field,
          userAgent: field,
          user: fc.stringMatching(/^[a-z@.]{1,20}$/).filter((user) => user !== '-'),
        }),
        ({ offset, ...made }) => {
          const time = new Date(Math.floor(made.time.getTime() / 1000) * 1000)
          const request = `${made.method} ${written(made.target)} HTTP/1.1`
          const line =
            `${made.address} - ${made.user} [${timeText(time, offset)}] "${request}" ${made.status} ${made.bytes} ` +
            `"${written(made.referrer)}" "${written(made.userAgent)}"`
          const dashIsNull = (text: string) => (text === '-' ? null : text)
          expect(entryOf(line)).toEqual({
            ...made,
            time,
            protocol: 'HTTP/1.1',
            referrer: dashIsNull(made.referrer),
            userAgent: dashIsNull(made.userAgent),
          })
        },
      ),
      { numRuns: 500 },
    )
  })

  it('never throw, whatever the bytes', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ' ',
        '"',
        '\\',
        '\\x',
        '[',
        ']',
        '-',
        '[17/May/2015:10:05:03 +0000]',
        '"GET / HTTP/1.1"',
        '200 1',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const parsed = parse(pieces.join(''))
        expect(parsed.entry === undefined).toBe(typeof parsed.reason === 'string')
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a request target', () => {
  it.each([
    ['/a/b?c=d?e', '/a/b', '/a/b?c=d?e'],
    ['/', '/', '/'],
    ['/?', '/', '/?'],
    ['http://example.org/a?b', '/a', '/a?b'],
    ['https://user@[2001:db8::1]:8443/a', '/a', '/a'],
    ['http://example.org', '/', '/'],
    ['http://example.org?b', '/', '/?b'],
    ['*', '*', '*'],
    ['example.org:443', 'example.org:443', 'example.org:443'],
    ['/go?to=http://example.org/x', '/go', '/go?to=http://example.org/x'],
    ['//twice//x', '//twice//x', '//twice//x'],
  ])('%s has the path %s', (target, path, withQuery) => {
    expect(pathOf(target)).toBe(path)
    expect(hostless(target)).toBe(withQuery)
  })
})
