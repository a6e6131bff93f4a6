/** The fire's judge must be able to condemn: each kind of wrong outcome, made by hand, is a fault. */
import type { Acknowledged, Report } from './fire'
import { judge } from './oracle'

function item(id: number, more: Partial<Acknowledged> = {}): Acknowledged {
  const group = more.group ?? 'hist:0'
  const n = `${group} ${id}`
  return {
    label: 'a',
    op: id,
    group,
    id: String(id),
    member: 'm',
    n,
    eventId: null,
    appended: true,
    slot: id % 10,
    ...more,
  }
}

function report(records: Acknowledged[], more: Partial<Report> = {}): Report {
  return { records, removals: [], settings: [], failures: [], seconds: 1, slowestMs: 1, ...more }
}

function ids(judged: ReturnType<typeof judge>, group: string): number[] | undefined {
  return judged.windows.get(group)?.map((record) => Number(record.id))
}

test('a clean run has no fault, and its window is the last ten', () => {
  const judged = judge(report(Array.from({ length: 25 }, (_, id) => item(id))))
  expect(judged.faults).toEqual([])
  expect(ids(judged, 'hist:0')).toEqual([15, 16, 17, 18, 19, 20, 21, 22, 23, 24])
  expect(judged.totals.get('hist:0')).toBe(25)
})

test.each([
  ['an id given out twice', [item(0), item(1), item(1, { label: 'b' })], 'gap or a duplicate'],
  ['an id left out', [item(0), item(2)], 'gap or a duplicate'],
  ['an id that goes back', [item(1, { op: 0 }), item(0, { op: 1 })], 'after 1'],
  ['a batch torn apart', [item(0, { op: 0 }), item(2, { op: 0 }), item(1, { label: 'b' })], 'after 0'],
  ['a slot that is not id mod capacity', [item(0, { slot: 3 })], 'in slot 3'],
  ['an event id twice in one window', [item(0, { eventId: 'e' }), item(1, { eventId: 'e' })], 'and again 1'],
  ['an event answered with a stranger', [item(0), item(0, { op: 1, eventId: 'e', appended: false })], 'not its own'],
])('%s', (_, records, fault) => {
  expect(judge(report(records)).faults.join('\n')).toContain(fault)
})

test('an event id that got in twice while all are kept', () => {
  const records = [0, 1].map((id) => item(id, { group: 'event:0', slot: id, eventId: 'e' }))
  expect(judge(report(records)).faults.join('\n')).toContain('more than once')
})

test('what callers saw counts', () => {
  expect(judge(report([item(0)], { failures: ['append: conflict'] })).faults).toEqual(['append: conflict'])
})

test('a change of settings happens between the ids that its total says', () => {
  const records = Array.from({ length: 9 }, (_, id) => item(id, { slot: id < 5 ? id : id % 3 }))
  const settings = [{ group: 'hist:0', totalAppended: '5', capacity: 3, mode: 'history' as const }]
  const judged = judge(report(records, { settings }))
  expect(judged.faults).toEqual([])
  expect(ids(judged, 'hist:0')).toEqual([6, 7, 8])
  const grown = judge(
    report(records, { settings: [...settings, { ...settings[0], totalAppended: '9', capacity: 20 } as never] }),
  )
  expect(ids(grown, 'hist:0')).toEqual([6, 7, 8])
})

test('distinct keeps the newest item of each of the newest members, and history the last ids of those', () => {
  const members = ['a', 'b', 'a', 'c', 'd', 'a']
  const records = members.map((member, id) => item(id, { group: 'modal:0', member, slot: id % 8 }))
  const distinct = { group: 'modal:0', totalAppended: '6', capacity: 3, mode: 'distinct' as const }
  expect(ids(judge(report(records, { settings: [distinct] })), 'modal:0')).toEqual([3, 4, 5])
  const history = { ...distinct, capacity: 2, mode: 'history' as const }
  expect(ids(judge(report(records, { settings: [distinct, history] })), 'modal:0')).toEqual([4, 5])
})

test('erased members and removed items are not expected', () => {
  const records = [item(0), item(1, { member: 'ghost-1' }), item(2), item(3)]
  const removals = [{ group: 'hist:0', id: '2', removed: true }]
  expect(ids(judge(report(records, { removals })), 'hist:0')).toEqual([0, 3])
})
