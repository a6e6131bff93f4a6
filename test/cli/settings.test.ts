/** The settings of every noun, pages and items, by the command line on a database and on a server of it. */
import { operated, run } from './support'

/** A double holds neither of its numbers. */
const EXACT = '{"to":"all","n":12345678901234567890,"price":1.50}'
const { databaseUrl, withStore, onDatabase, onServer } = operated()
beforeAll(() => withStore(({ queues }) => queues.put('mail')))

describe('settings', () => {
  test.each([
    ['queues', ['--max-receives', '3'], { maxReceives: 3 }, ['--max-receives', ''], { maxReceives: null }],
    ['groups', ['--capacity', '7'], { capacity: 7 }, ['--mode', 'distinct'], { capacity: 7, mode: 'distinct' }],
    ['policies', ['--capacity', '7', '--mode', 'history'], { capacity: 7 }, ['--capacity', '8'], { capacity: 8 }],
    [
      'schedules',
      ['--queue', 'mail', '--every-seconds', '60', '--body', EXACT],
      { everySeconds: 60 },
      ['--cron', '0 3 * * *', '--every-seconds', ''],
      { cron: '0 3 * * *', everySeconds: null },
    ],
  ])('of %s are put, kept, changed and dropped', async (noun, put, made, change, changed) => {
    const answer = async (ran: ReturnType<typeof run>) => {
      const { code, stdout, stderr } = await ran
      expect([code, stderr]).toEqual([0, ''])
      return JSON.parse(stdout)
    }
    const first = await answer(onServer(noun, 'put', 'one', ...put, '--json'))
    expect(first).toMatchObject(made)
    const kept = await onDatabase(noun, 'ensure', 'one', ...put, '--json')
    expect(JSON.parse(kept.stdout)).toMatchObject({ ...made, tag: first.tag })
    expect(await answer(onServer(noun, 'ensure', 'one', ...put, '--json'))).toMatchObject({ tag: first.tag })
    expect(await answer(onDatabase(noun, 'update', 'one', ...change, '--if-tag', first.tag, '--json'))).toMatchObject(
      changed,
    )
    const stale = await onServer(noun, 'put', 'one', ...put, '--if-tag', first.tag)
    expect(stale).toMatchObject({ code: 1, stderr: expect.stringContaining('have changed') })
    expect(await answer(onServer(noun, 'get', 'one', '--json'))).toMatchObject(changed)
    expect(await onDatabase(noun, 'drop', 'one', ...(/queues|groups/.test(noun) ? ['--yes'] : []))).toMatchObject({
      code: 0,
    })
    expect(await onServer(noun, 'get', 'one')).toMatchObject({ code: 3, stdout: '' })
  })

  test('a warning says what ensure has found otherwise', async () => {
    await onDatabase('queues', 'put', 'two', '--max-receives', '3')
    const other = await onDatabase('queues', 'ensure', 'two', '--max-receives', '4')
    expect(other.stdout).toMatch(/^maxReceives +3$/m)
    expect(other.stderr).toMatch(/^recentn: The queue "two" .* maxReceives is 3, not 4\. /)
    await onDatabase('queues', 'drop', 'two', '--yes')
  })
})

test('losses say what a change of a policy or a group would remove', async () => {
  await withStore(({ groups }) =>
    groups.appendMany([1, 2, 3].map((member) => ({ group: 'loss:1', member: `${member}` }))),
  )
  const change = ['--capacity', '1', '--mode', 'history', '--json']
  const losses = { groups: 1, losingGroups: 1, items: 2, isExact: true }
  expect(JSON.parse((await onDatabase('policies', 'losses', 'loss:', ...change)).stdout)).toEqual(losses)
  expect(JSON.parse((await onServer('policies', 'losses', 'loss:', ...change)).stdout)).toEqual(losses)
  expect((await onServer('groups', 'losses', 'loss:1', '--capacity', '2')).stdout).toMatch(/^items +1$/m)
})

test('--all walks every page, one line of JSON or one table', async () => {
  await withStore(async ({ queues }) => {
    await queues.put('long')
    await queues.sendMany(
      'long',
      Array.from({ length: 1000 }, () => ({ body: 1 })),
    )
    await queues.sendMany(
      'long',
      Array.from({ length: 500 }, () => ({ body: 1 })),
    )
  })
  for (const on of [onDatabase, onServer]) {
    const pages = (await on('queues', 'peek', 'long', '--all', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(pages.map(({ messages }) => messages.length)).toEqual([1000, 500])
    expect(pages[1].nextAfter).toBeNull()
  }
  // A process must have written all of it before it ends.
  const table = await run(['queues', 'peek', 'long', '--all'], { env: { DATABASE_URL: databaseUrl } })
  expect(table.stderr).toBe('')
  expect(table.stdout.trim().split('\n')).toHaveLength(1501)
  expect(await onServer('queues', 'peek', 'long', '--all', '--limit', '3')).toMatchObject({ code: 2 })
  await onDatabase('queues', 'drop', 'long', '--yes')
})

test('items of a group and of a member are appended, shown and erased', async () => {
  for (const [on, payload] of [
    [onServer, EXACT],
    [onDatabase, '1.50'],
  ] as const) {
    await on('groups', 'append', 'seen:1', '--member', 'dora', '--payload', payload)
    expect((await on('groups', 'member-items', 'dora', '--json')).stdout).toContain(`"payload":${payload}`)
  }
  expect(await onServer('groups', 'erase-member', 'dora', '--yes')).toMatchObject({ code: 0, stdout: 'deleted  2\n' })
  expect(await onDatabase('groups', 'clear', 'seen:1', '--yes')).toMatchObject({ code: 0, stdout: 'deleted  0\n' })
})
