/**
 * Every call of a handle, in an order that gives each of them something to do. The same steps are taken by the handle of one
 * name and by the calls on another name, which must answer the same.
 */
type Call = (...given: unknown[]) => unknown
/** The answers of earlier steps, by the name of their call. */
type Answers = Record<string, unknown>
export type Step = readonly [call: string, arguments?: (answers: Answers) => readonly unknown[]]

export const queueSteps: readonly Step[] = [
  ['put', () => [{ maxReceives: 3 }]],
  ['ensure', () => [{ maxReceives: 4 }]],
  ['update', () => [{ visibilityTimeoutSeconds: 60 }]],
  ['pause'],
  ['resume'],
  ['hold', () => [{ seconds: 0 }]],
  ['send', () => [{ to: 'ann' }, { priority: 3 }]],
  ['sendMany', () => [[{ body: { to: 'bob' }, delaySeconds: 60 }, { body: { to: 'cid' } }]]],
  ['peek', () => [{ state: 'delayed' }]],
  ['message', ({ send }) => [(send as { id: bigint }).id]],
  ['receive', () => [{ limit: 2 }]],
  ['extend', ({ receive }) => [messageIn(receive, 0), { visibilityTimeoutSeconds: 80 }]],
  ['extendMany', ({ receive }) => [[messageIn(receive, 0)], { visibilityTimeoutSeconds: 90 }]],
  ['nackMany', ({ receive }) => [[messageIn(receive, 0)]]],
  ['cycle'],
  ['nack', ({ cycle }) => [messageIn(cycle, 0), { dead: true, error: 'no such mailbox' }]],
  ['ack', ({ receive }) => [messageIn(receive, 1)]],
  ['ackMany', ({ receive }) => [[messageIn(receive, 1)]]],
  ['cancel', () => ['k']],
  ['errors'],
  ['history'],
  ['redrive'],
  ['promote', ({ send }) => [[(send as { id: bigint }).id]]],
  ['receivers', () => []],
  ['remove', ({ send }) => [(send as { id: bigint }).id]],
  ['purge'],
  ['get'],
  ['drop'],
]

function messageIn(received: unknown, at: number): unknown {
  return (received as unknown[])[at]
}

export const groupSteps: readonly Step[] = [
  ['put', () => [{ capacity: 5 }]],
  ['append', () => [{ member: 'ann', payload: { page: 1 } }]],
  ['append', () => [{ member: 'bob', payload: { page: 2 } }]],
  ['recent', () => [{ limit: 1 }]],
  ['recentIfChanged', ({ recent }) => [(recent as { tag: string }).tag, { limit: 1 }]],
  ['item', () => [0n]],
  ['update', () => [{ mode: 'top' }]],
  ['append', () => [{ member: 'cid', score: 3 }]],
  ['changeScore', () => ['cid', 2]],
  ['remove', () => [0n]],
  ['get'],
  ['clear'],
  ['update', () => [{ capacity: null }]],
  ['ensure', () => [{}]],
  ['drop'],
]

export const feedSteps: readonly Step[] = [
  ['put', () => ['ann', { city: 'Ghent' }]],
  ['putMany', () => [[{ key: 'bob', value: { city: 'Riga' } }]]],
  ['get', () => ['ann']],
  ['delete', () => ['bob']],
  ['republish', () => [{ keys: ['ann'] }]],
  ['changes'],
  ['moveCursor', () => ['search', 0n]],
  ['cursor', () => ['search']],
  ['dropCursor', () => ['search']],
  ['status'],
  ['drop'],
]

/** Takes the steps in both ways, and compares what they answer. */
export async function expectSame(
  { name, ...handle }: { name: string },
  [calls, other]: [calls: object, other: string],
  steps: readonly Step[],
): Promise<void> {
  const byHandle: Answers = {}
  const byCalls: Answers = {}
  for (const [call, given = () => []] of steps) {
    byHandle[call] = await (handle as Record<string, Call>)[call]?.(...given(byHandle))
    expect(calls).toHaveProperty(call)
    byCalls[call] = await (calls as Record<string, Call>)[call]?.(other, ...given(byCalls))
    expect([call, plain(byHandle[call] ?? null, name)]).toEqual([call, plain(byCalls[call] ?? null, other)])
  }
}

/** Without what differs between two queues, groups or feeds. */
function plain(answer: unknown, name: string): string {
  return (
    JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
      .replaceAll(JSON.stringify(name), '"NAME"')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/"(id|receiptHandle|tag)":"[^"]*"/g, '"$1":"…"')
      // The store reports its receives in the background, at any moment: of one queue before we ask, and of the other after.
      .replaceAll(/"(oldest\w*Seconds|receivedLastMinute|unknownInFlight)":[\d.]+/g, '"$1":0')
      .replaceAll(/"receivers":\[[^\]]*\]/g, '"receivers":["…"]')
      .replaceAll(/"(acked|nacked|extended)":\["[^"]*"\]/g, '"$1":["…"]')
  )
}
