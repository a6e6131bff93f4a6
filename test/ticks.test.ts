/** When schedules tick: time zones with summer time, leap days, ticks that were missed. */
import { Cron } from 'croner'
import fc from 'fast-check'
import { cronFault, dueTicks, firstTick, silenceFault, type Timing, timeZoneFault } from '../src/fields/ticks'
import { stopwatch } from './support/timing'

const cron = (pattern: string, timeZone = 'UTC'): Timing => ({ cron: pattern, everySeconds: null, timeZone })
const every = (everySeconds: number): Timing => ({ cron: null, everySeconds, timeZone: 'UTC' })
const ms = (text: string) => Date.parse(text)
const text = (time: number) => new Date(time).toISOString().replace('.000Z', 'Z')

/** The ticks after `from`, each sent when it is due. */
function ticksAfter(timing: Timing, from: string, count: number): string[] {
  const ticks: string[] = []
  for (let next = firstTick(timing, ms(from)); ticks.length < count; ) {
    const due = dueTicks({ ...timing, missed: 'skip' }, next, next)
    ticks.push(...due.ticks.map(text))
    next = due.nextMs
  }
  return ticks
}

describe('a cron pattern', () => {
  test.each([
    ['Europe/Berlin', '2026-03-28T00:00:00Z', ['2026-03-28T01:30:00Z', '2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z']],
    [
      'America/New_York',
      '2026-03-07T00:00:00Z',
      ['2026-03-07T07:30:00Z', '2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z'],
    ],
  ])('daily at an hour that does not exist ticks when the clocks have moved on: %s', (zone, from, expected) => {
    expect(ticksAfter(cron('30 2 * * *', zone), from, 3)).toEqual(expected)
    // The same with several hours, which are no interval.
    const twice = ticksAfter(cron('30 2,14 * * *', zone), from, 6)
    expect(twice.filter((_, index) => index % 2 === 0)).toEqual(expected)
  })

  test.each([
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z']],
    ['America/New_York', '30 1 * * *', '2026-10-31T12:00:00Z', ['2026-11-01T05:30:00Z', '2026-11-02T06:30:00Z']],
  ])('daily at an hour that comes twice ticks at the first: %s', (zone, pattern, from, expected) => {
    expect(ticksAfter(cron(pattern, zone), from, 2)).toEqual(expected)
  })

  test.each([
    ['Europe/Berlin', '2026-03-28T23:10:00Z', '2026-10-24T22:10:00Z'],
    ['America/New_York', '2026-03-08T05:10:00Z', '2026-11-01T04:10:00Z'],
  ])('of an interval ticks at each, also in the hours that are changed: %s', (zone, ...days) => {
    for (const from of days) {
      const first = ms(from) + 20 * 60_000
      const expected = Array.from({ length: 10 }, (_, n) => text(first + n * 30 * 60_000))
      expect(ticksAfter(cron('*/30 * * * *', zone), from, 10)).toEqual(expected)
    }
  })

  test('ticks on leap days, in years that have one', () => {
    const expected = ['2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z', '2036-02-29T00:00:00Z']
    expect(ticksAfter(cron('0 0 29 2 *'), '2026-11-22T00:00:00Z', 3)).toEqual(expected)
    expect(ticksAfter(cron('0 0 29 2 *'), '2096-03-01T00:00:00Z', 1)).toEqual(['2104-02-29T00:00:00Z'])
  })

  test('may have seconds, names, and nicknames', () => {
    const from = '2026-11-22T10:00:00.500Z'
    expect(ticksAfter(cron('*/20 * * * * *'), from, 3).map((tick) => tick.slice(17))).toEqual(['20Z', '40Z', '00Z'])
    expect(ticksAfter(cron('0 9 * * MON-FRI'), from, 2)).toEqual(['2026-11-23T09:00:00Z', '2026-11-24T09:00:00Z'])
    expect(ticksAfter(cron('@daily', 'Asia/Kolkata'), from, 1)).toEqual(['2026-11-22T18:30:00Z'])
  })

  const silence = (pattern: string, zone = 'UTC') => silenceFault(pattern, zone, ms('2026-11-22T10:00:00Z'))
  const SILENT = (zone: string) => `never ticks: no time of the next 40 years in ${zone} fits the pattern`

  test('that falls into what the clocks leave out each time is refused in that zone only, and takes no time', () => {
    const spring = '* * 2 * 3 +SUN#L'
    expect([silence(spring), silence(spring, 'America/New_York')]).toEqual([null, null])
    for (const [pattern, zone] of [
      [spring, 'Europe/Berlin'],
      ['0 0 4W,5W,6W,7W,8W,9W,10W,11W,12W,13W,14W,15W,16W,17W,18W,19W,20W,21W,22W,23W,24W,25W,26W * +SUN', 'UTC'],
    ] as const) {
      const watch = stopwatch()
      expect(silence(pattern, zone)).toBe(SILENT(zone))
      expect(watch.isBeyond(200)).toBe(false)
    }
  })

  const within = (min: number, max: number) => fc.integer({ min, max })
  const field = (min: number, max: number) =>
    fc.oneof(
      fc.constant('*'),
      within(2, max).map((step) => `*/${step}`),
      fc.uniqueArray(within(min, max), { minLength: 1, maxLength: 4 }).map((list) => list.join(',')),
    )
  const date = fc.oneof(field(1, 31), fc.constantFrom('L', 'LW', '15,L', '1W', '31W', '4W,5W,6W', '14W,29W'))
  const days = fc.oneof(field(0, 6), fc.constantFrom('7', 'MON-FRI', 'SUN#L', '+SUN#L', '+FRI#2', '1#1,5#5', '+1-5'))
  const month = fc.oneof(fc.constant('*'), fc.constantFrom('3', '10', '2', '3,4,9,10,11'))
  const pattern = fc
    .tuple(
      fc.constantFrom('0', '0', '*/17', '5,59'),
      field(0, 59),
      fc.oneof(field(0, 23), field(0, 3)),
      date,
      month,
      days,
    )
    .map((fields) => fields.join(' '))
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Havana', 'Africa/Cairo']
  const time = fc.oneof(
    within(ms('2026-01-01T00:00:00Z'), ms('2031-01-01T00:00:00Z')),
    fc
      .tuple(fc.constantFrom('2026-03-08', '2026-03-29', '2026-10-25', '2026-11-01', '2027-04-04'), within(-1440, 2880))
      .map(([day, minutes]) => ms(day) + minutes * 60_000),
  )

  test('ticks when croner has it tick', () => {
    fc.assert(
      fc.property(pattern, fc.constantFrom(...zones), time, (text, timezone, from) => {
        const options = { mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard', timezone, paused: true } as const
        // Its own year, so that croner does not search for thousands of them.
        const near = new Cron(`${text} ${[-2, -1, 0, 1, 2].map((n) => new Date(from).getUTCFullYear() + n)}`, {
          ...options,
          mode: '7-part',
        })
        const next = near.nextRun(new Date(from))
        fc.pre(next !== null)
        const first = firstTick(cron(text, timezone), from)
        expect(first).toBe(next?.getTime())
        // The missed tick is the last one before the next one.
        const after = near.nextRun(next as Date)
        fc.pre(after !== null && Number(after) - first > 120_000)
        const missed = dueTicks({ ...cron(text, timezone), missed: 'send-once' }, first, Number(after) - 1000)
        expect(missed).toEqual({ ticks: [first], nextMs: after?.getTime() })
      }),
      { numRuns: 500 },
    )
  })

  test('whatever it is, is judged within 200 ms', () => {
    const part = fc.string({ unit: fc.constantFrom(...'0123456789*/,-#LW+?SUNMAR'), minLength: 1, maxLength: 30 })
    const any = fc.oneof(
      pattern,
      fc.array(part, { minLength: 5, maxLength: 6 }).map((parts) => parts.join(' ')),
    )
    fc.assert(
      fc.property(any, fc.constantFrom(...zones), (text, zone) => {
        const watch = stopwatch()
        if (cronFault(text) === null) silence(text, zone)
        expect(watch.isBeyond(200)).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })

  test('that is not one, or that never ticks, is refused with the reason', () => {
    for (const pattern of ['30 2 * * *', '@daily', '0 0 29 2 *', '*/5 * * * * *', '0 12 * * 7', '0 12 L * *']) {
      expect(cronFault(pattern)).toBeNull()
    }
    for (const pattern of ['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 0 31 FEB *']) {
      expect([cronFault(pattern), silence(pattern)]).toEqual([null, SILENT('UTC')])
    }
    expect(cronFault('61 * * * *')).toMatch(/^must be a cron pattern of 5 or 6 fields: .*minute.*61/)
    expect(cronFault('every day')).toBe('must be a cron pattern of 5 or 6 fields, such as "30 2 * * *"')
    const wrong = [
      '',
      ' ',
      '* * * *',
      '0 0 0 1 1 * 2030',
      '2027-01-01T00:00:00',
      '@reboot',
      'é * * * *',
      'x'.repeat(200),
      5,
    ]
    for (const pattern of wrong) expect(cronFault(pattern)).toMatch(/^must be a/)
  })

  test('has the time zone of a place', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'America/New_York', 'Etc/GMT+5']) expect(timeZoneFault(zone)).toBeNull()
    for (const zone of ['', 'Nowhere/Land', '+02:00', 'Europe/Berlin ', 7, 'x'.repeat(65)]) {
      expect(timeZoneFault(zone)).toBe('must be the name of a time zone, such as "Europe/Berlin"')
    }
  })
})

describe('seconds', () => {
  test('are counted from when the schedule began, on full seconds', () => {
    expect(text(firstTick(every(90), ms('2026-11-22T10:00:00.900Z')))).toBe('2026-11-22T10:01:30Z')
    const start = '2026-11-22T10:00:00Z'
    expect(ticksAfter(every(90), start, 2)).toEqual(['2026-11-22T10:01:30Z', '2026-11-22T10:03:00Z'])
  })
})

describe('ticks that come late', () => {
  const next = ms('2026-11-20T03:00:00Z')
  const daily = cron('0 3 * * *')
  const due = (timing: Timing, missed: 'send-once' | 'skip', now: string) => {
    const { ticks, nextMs } = dueTicks({ ...timing, missed }, next, ms(now))
    return { ticks: ticks.map(text), next: text(nextMs) }
  }

  test.each(['send-once', 'skip'] as const)('by a minute or less are all sent: %s', (missed) => {
    expect(due(daily, missed, '2026-11-20T03:01:00Z')).toEqual({
      ticks: ['2026-11-20T03:00:00Z'],
      next: '2026-11-21T03:00:00Z',
    })
    const seconds = due(every(1), missed, '2026-11-20T03:01:00.000Z')
    expect([seconds.ticks.length, seconds.ticks[0], seconds.next]).toEqual([
      61,
      '2026-11-20T03:00:00Z',
      '2026-11-20T03:01:01Z',
    ])
  })

  test('by more are sent once, by the newest, or not at all', () => {
    const after = { next: '2026-11-23T03:00:00Z' }
    expect(due(daily, 'send-once', '2026-11-22T15:00:00Z')).toEqual({ ticks: ['2026-11-22T03:00:00Z'], ...after })
    expect(due(daily, 'skip', '2026-11-22T15:00:00Z')).toEqual({ ticks: [], ...after })
    expect(due(every(3600), 'send-once', '2026-11-20T05:30:00Z')).toEqual({
      ticks: ['2026-11-20T05:00:00Z'],
      next: '2026-11-20T06:00:00Z',
    })
  })

  test('are not sent where a later one is due in time', () => {
    for (const missed of ['send-once', 'skip'] as const) {
      const { ticks, next } = due(daily, missed, '2026-11-22T03:00:30Z')
      expect([ticks, next]).toEqual([['2026-11-22T03:00:00Z'], '2026-11-23T03:00:00Z'])
      expect(due(every(1), missed, '2026-11-21T00:00:00Z').ticks).toHaveLength(61)
    }
  })

  test('across a change of the clocks are the newest all the same', () => {
    const timing = { ...cron('30 2 * * *', 'Europe/Berlin'), missed: 'send-once' as const }
    const spring = dueTicks(timing, ms('2026-03-27T01:30:00Z'), ms('2026-03-29T12:00:00Z'))
    expect([spring.ticks.map(text), text(spring.nextMs)]).toEqual([['2026-03-29T01:00:00Z'], '2026-03-30T00:30:00Z'])
    const autumn = dueTicks(timing, ms('2026-10-23T00:30:00Z'), ms('2026-10-25T12:00:00Z'))
    expect([autumn.ticks.map(text), text(autumn.nextMs)]).toEqual([['2026-10-25T00:30:00Z'], '2026-10-26T01:30:00Z'])
  })
})
