/** `recentn queues`, `groups` and `feeds`, on a database and on a server of the same database; as processes where they end. */
import { PassThrough } from 'node:stream'
import { confirm } from '../../src/cli/confirm'
import { JsonText } from '../../src/shared/json'
import { command, operated, run } from './support'

/** A double holds neither of its numbers. */
const EXACT = '{"to":"all","n":12345678901234567890,"price":1.50}'
const { databaseUrl, withStore, onDatabase, onServer, server } = operated()
let admin: string
let reader: string

beforeAll(async () => {
  await withStore(async ({ queues, groups, policies, schedules, feeds, keys }) => {
    admin = server().key
    reader = (await keys.create({ label: 'reader', scopes: ['read'] })).key
    await queues.put('mail-dead')
    await queues.put('mail', { deadLetterQueue: 'mail-dead' })
    await queues.put('odd', {})
    for (const to of ['ann', 'bob', 'x'.repeat(300)]) await queues.send('mail', { to }, { delaySeconds: 3600 })
    await queues.send('odd', 'a\u001b[31mred')
    const [message] = await queues.receive('odd')
    await queues.nack('odd', message?.receiptHandle ?? '', { dead: true, error: 'first line\nsecond line' })
    for (const member of ['ann', 'bob', 'cleo'])
      await groups.append('article:42', { member, payload: { from: 'home' } })
    await feeds.putMany(
      'users',
      ['ann', 'bob', 'cleo'].map((key) => ({ key, value: { name: key } })),
    )
    await feeds.publish()
    await schedules.put('leap-days', {
      queue: 'mail',
      cron: '0 3 29 2 *',
      timeZone: 'Europe/Rome',
      body: new JsonText(EXACT),
    })
    await policies.put('article:', { capacity: 20, mode: 'history' })
    await feeds.moveCursor('users', 'search-index', 2n)
    await queues.put('steps', { groupConcurrency: 1 })
    for (const step of ['pay', 'ship']) await queues.send('steps', step, { messageGroup: 'order:7' })
  })
})

/** Without what changes from second to second. */
const settled = (text: string) => text.replace(/"oldestAgeSeconds":\d+/g, '"oldestAgeSeconds":0')

describe('--json', () => {
  test.each([
    [['queues', 'list', '--prefix', 'ma', '--limit', '1'], '/v1/queues?prefix=ma&limit=1'],
    [['queues', 'peek', 'steps', '--state', 'blocked'], '/v1/queues/steps/messages?state=blocked'],
    [['groups', 'recent', 'article:42', '--limit', '2'], '/v1/groups/article:42/items?limit=2'],
    [['feeds', 'status', 'users'], '/v1/feeds/users'],
    [['feeds', 'cursor', 'users', 'search-index'], '/v1/feeds/users/consumers/search-index'],
    [['schedules', 'get', 'leap-days'], '/v1/schedules/leap-days'],
    [['policies', 'list'], '/v1/policies'],
    [['feeds', 'changes', 'users', '--after', '1'], '/v1/feeds/users/changes?after=1'],
  ])('%j is the answer of the route, of a database and of a server', async (args, route) => {
    const answer = fetch(server().url + route, { headers: { Authorization: `Bearer ${admin}` } })
    const [rest, ...ran] = await Promise.all([
      answer.then((response) => response.text()),
      onDatabase(...args, '--json'),
      onServer(...args, '--json'),
    ])
    for (const { code, stdout, stderr } of ran) {
      expect([code, stderr, stdout.split('\n').length]).toEqual([0, '', 2])
      expect(settled(stdout)).toBe(`${settled(rest)}\n`)
      expect(rest).not.toMatch(/\[\]/)
    }
  })
})

describe('for people', () => {
  test('a list is a table, and says how to continue', async () => {
    const [queues, first] = await Promise.all([
      onDatabase('queues', 'list'),
      onServer('queues', 'list', '--limit', '1'),
    ])
    expect(queues.stderr).toBe('')
    const lines = queues.stdout.split('\n')
    expect(lines[0]).toBe(
      'queue      ready  inFlight  delayed  blocked  dead  archived  oldestAgeSeconds  paused  isDeadLetterQueue',
    )
    expect(lines[1]).toBe(
      'mail           0         0        3        0     0         0                 -  false   false',
    )
    expect(lines[3]).toMatch(/^odd +0 +0 +0 +0 +1 /)
    expect(lines[4]).toMatch(/^steps +1 +0 +0 +1 +0 /)
    expect(first.stdout.split('\n')).toEqual([expect.stringMatching(/^queue/), expect.stringMatching(/^mail /), ''])
    expect(first.stderr).toBe("There are more: --after 'mail', or --all\n")
  })

  test('messages are shown cut, and cannot control the terminal', async () => {
    const [delayed, dead, one] = await Promise.all([
      onDatabase('queues', 'peek', 'mail', '--state', 'delayed'),
      onServer('queues', 'peek', 'odd', '--state', 'dead'),
      onDatabase('queues', 'message', 'odd', '4'),
    ])
    expect(delayed.stdout).toContain('{"to":"ann"}')
    expect(delayed.stdout).toMatch(/\{"to":"x+…\n/)
    expect(Math.max(...delayed.stdout.split('\n').map((line) => line.length))).toBeLessThan(160)
    expect(dead.stdout).toContain('first line\\x0asecond line')
    expect(dead.stdout).not.toContain('\u001b')
    expect(one.stdout).toMatch(/^state +dead$/m)
    expect(one.stdout).toMatch(/^lastError +first line\\x0asecond line$/m)
    expect(one.stdout).not.toContain('\u001b')
  })

  test('groups, feeds, and what is not there', async () => {
    const [items, feed, none, absent] = await Promise.all([
      onServer('groups', 'recent', 'article:42', '--before', '2'),
      onDatabase('feeds', 'status', 'users'),
      onDatabase('groups', 'list', '--prefix', 'nothing'),
      onServer('queues', 'get', 'nothing'),
    ])
    const rows = items.stdout.split('\n')
    expect(rows[0]).toMatch(/^id +member +score +createdAt +occurredAt +payload$/)
    expect(rows[1]).toMatch(/^ 1 +bob .* \{"from":"home"\}$/)
    expect(feed.stdout).toMatch(/^entries +3$[\s\S]*^consumers\.0\.consumer +search-index$[\s\S]*\.lag +1$/m)
    expect(none).toMatchObject({ code: 0, stdout: 'There are no groups.\n' })
    expect(absent).toEqual({ code: 3, stdout: '', stderr: 'recentn: There is no such queue\n' })
  })

  test('numbers are as they were stored, in facts and in tables', async () => {
    const [facts, sent] = [await onServer('schedules', 'get', 'leap-days'), '{"n":12345678901234567890}']
    expect(facts.stdout).toContain(`body                      ${EXACT}\n`)
    await onServer('feeds', 'put', 'exact', 'k', sent)
    await withStore(({ feeds }) => feeds.publish())
    for (const on of [onDatabase, onServer]) expect((await on('feeds', 'changes', 'exact')).stdout).toContain(sent)
  })
})

test('an entry is written only if it has the version that was read', async () => {
  const put = (on: typeof onServer, version: string) =>
    on('feeds', 'put', 'exact', 'once', '1', '--if-version', version)
  expect((await put(onServer, '0')).stdout).toMatch(/^version +1$/m)
  for (const on of [onServer, onDatabase]) {
    expect(await put(on, '0')).toMatchObject({ code: 1, stderr: 'recentn: The entry "once" has version 1\n' })
    expect((await put(on, 'one')).code).toBe(2)
  }
  expect((await put(onDatabase, '1')).stdout).toMatch(/^version +2$/m)
  expect((await onServer('feeds', 'delete', 'exact', 'once', '--if-version', '2')).stdout).toMatch(/^deleted +true$/m)
})

test('pause and resume, each seen by the other way', async () => {
  const paused = await onServer('queues', 'pause', 'mail')
  expect(paused).toMatchObject({ code: 0, stdout: expect.stringMatching(/^paused +true$/m), stderr: '' })
  expect(JSON.parse((await onDatabase('queues', 'get', 'mail', '--json')).stdout).paused).toBe(true)
  const resumed = await onDatabase('queues', 'resume', 'mail', '--json')
  expect(JSON.parse(resumed.stdout)).toMatchObject({ queue: 'mail', paused: false })
})

test('redrive sends dead messages back, and a dry run only counts them', async () => {
  const dry = await onDatabase('queues', 'redrive', 'odd', '--dry-run')
  expect(dry).toMatchObject({ code: 0, stdout: 'moved  1\n' })
  const none = await onDatabase('queues', 'redrive', 'odd', '--ids', '777777', '888888')
  expect(none).toMatchObject({ code: 0, stdout: 'moved  0\n' })
  const moved = await onServer('queues', 'redrive', 'odd', '--json')
  expect(moved).toMatchObject({ code: 0, stdout: '{"moved":1}\n' })
})

test('hold gives nothing until it ends', async () => {
  const held = await onServer('queues', 'hold', 'mail', '60')
  expect(held).toMatchObject({ code: 0, stdout: expect.stringMatching(/^holdEndsAt +2\d{3}-/), stderr: '' })
  expect(JSON.parse((await onDatabase('queues', 'get', 'mail', '--json')).stdout).holdEndsAt).toMatch(/^2/)
  expect((await onDatabase('queues', 'hold', 'mail', '0', '--json')).stdout).toContain('null')
})

test('promote has a delayed message handed out now', async () => {
  await withStore(async ({ queues }) => {
    await queues.put('later')
    await queues.send('later', 'x', { delaySeconds: 600 })
  })
  const listed = await onDatabase('queues', 'peek', 'later', '--state', 'delayed', '--json')
  const { id } = JSON.parse(listed.stdout).messages[0]
  const promoted = await onServer('queues', 'promote', 'later', id)
  expect(promoted).toMatchObject({ code: 0, stdout: 'promoted  1\n' })
  expect(await onDatabase('queues', 'promote', 'later', id)).toMatchObject({ stdout: 'promoted  0\n' })
  await withStore(({ queues }) => queues.drop('later'))
})

test('send sends a message, once with a dedup id', async () => {
  await withStore(({ queues }) => queues.put('sent'))
  const body = '{"to":"ann","n":12345678901234567890}'
  const sent = await onServer('queues', 'send', 'sent', body, '--dedup-id', 'd', '--message-group', 'g')
  expect(sent.stdout).toMatch(/^id +\d+\nsent +true\n$/)
  const again = await onDatabase('queues', 'send', 'sent', '1', '--dedup-id', 'd', '--json')
  expect(JSON.parse(again.stdout)).toEqual({ id: /\d+/.exec(sent.stdout)?.[0], sent: false })
  expect(await onServer('queues', 'send', 'sent', '{"to":"bob"}', '--delay-seconds', '60')).toMatchObject({ code: 0 })
  await withStore(async ({ queues }) => {
    expect(await queues.receive('sent', { limit: 9, bodies: 'text' })).toMatchObject([
      { body: { text: body }, messageGroup: 'g' },
    ])
    expect((await queues.peek('sent', { state: 'delayed' })).messages).toMatchObject([{ body: { to: 'bob' } }])
    await queues.drop('sent')
  })
  const refused = await onDatabase('queues', 'send', 'sent', 'ann')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('must be JSON') })
})

test('send with a key leaves one waiting, and cancel removes it', async () => {
  await withStore(({ queues }) => queues.put('keyed'))
  const { stdout } = await onServer('queues', 'send', 'keyed', '1', '--key', 'k', '--json')
  const replaced = ['queues', 'send', 'keyed', '2', '--key', 'k', '--on-key', 'replace', '--json']
  expect(JSON.parse((await onDatabase(...replaced)).stdout)).toEqual({ ...JSON.parse(stdout), sent: false })
  expect(await onDatabase('queues', 'message', 'keyed', JSON.parse(stdout).id)).toMatchObject({
    stdout: expect.stringMatching(/\nbody +2\n[\s\S]*\nkey +k\n/),
  })
  expect(await onServer('queues', 'cancel', 'keyed', 'k')).toMatchObject({ code: 0, stdout: 'Done.\n' })
  expect(await onDatabase('queues', 'cancel', 'keyed', 'k')).toMatchObject({ code: 3 })
  await withStore(({ queues }) => queues.drop('keyed'))
})

test('a schedule is listed, and dropped once', async () => {
  const listed = await onServer('schedules', 'list')
  expect(listed.stdout).toMatch(/^schedule +queue +cron .*\nleap-days +mail +0 3 29 2 \* +- +Europe\/Rome /)
  expect(await onDatabase('schedules', 'drop', 'leap-days')).toMatchObject({ code: 0, stdout: 'Done.\n' })
  const again = await onServer('schedules', 'drop', 'leap-days', '--json')
  expect(again).toEqual({ code: 3, stdout: '', stderr: 'recentn: There is no such schedule\n' })
})

test('a feed is dropped once, after a question', async () => {
  await withStore(({ feeds }) => feeds.put('old', 'k', 1))
  const unasked = await onServer('feeds', 'drop', 'old')
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('needs --yes') })
  expect(await onServer('feeds', 'drop', 'old', '--yes', '--json')).toEqual({ code: 0, stdout: '', stderr: '' })
  const again = await onDatabase('feeds', 'drop', 'old', '--yes')
  expect(again).toMatchObject({ code: 3, stderr: 'recentn: There is no such feed\n' })
})

test('RECENTN_URL replaces --url, and --database-url goes before it', async () => {
  const env = { RECENTN_URL: server().url, RECENTN_KEY: admin }
  expect(await run(['queues', 'get', 'mail'], { env })).toMatchObject({ code: 0, stderr: '' })
  const elsewhere = { ...env, RECENTN_URL: 'http://127.0.0.1:2' }
  expect(await run(['queues', 'get', 'mail'], { env: elsewhere })).toMatchObject({ code: 4, stdout: '' })
  expect(await run(['queues', 'get', 'mail', '--database-url', databaseUrl], { env: elsewhere })).toMatchObject({
    code: 0,
  })
})

test('purge needs --yes where there is no terminal', async () => {
  const left = async () => JSON.parse((await onDatabase('queues', 'purge', 'mail', '--dry-run', '--json')).stdout)
  for (const refused of await Promise.all([
    onDatabase('queues', 'purge', 'mail'),
    onServer('queues', 'purge', 'mail', '--json'),
  ])) {
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toBe('recentn: nothing was deleted: without a terminal to ask on, this needs --yes\n')
  }
  expect(await left()).toEqual({ deleted: 3 })
  const purged = await onServer('queues', 'purge', 'mail', '--yes')
  expect(purged).toMatchObject({ code: 0, stdout: 'deleted  3\n', stderr: '' })
  expect(await left()).toEqual({ deleted: 0 })
})

describe('on a terminal', () => {
  const asked = async (answer: string | null) => {
    const input = Object.assign(new PassThrough(), { isTTY: true })
    const output = Object.assign(new PassThrough(), { isTTY: true })
    const done = confirm('Delete 3 messages of the queue a\u001bb?', { input, output })
    if (answer === null) input.end()
    else input.write(answer)
    await done
    return String(output.read())
  }

  test.each(['y\n', 'yes\n', 'Y\n'])('%j is a yes', async (answer) => {
    expect(await asked(answer)).toContain('Delete 3 messages of the queue a\\x1bb? [y/N] ')
  })

  test.each(['\n', 'n\n', 'yess\n', null])('%j is a no', async (answer) => {
    await expect(asked(answer)).rejects.toThrow('nothing was deleted')
  })
})

test.each([
  [2, ['queues', 'list', '--url', 'localhost:3000'], /--url must be an address such as/],
  [2, ['queues', 'list', '--key', 'rk_0'], /unknown option '--key'/],
  [2, ['queues', 'message', 'mail', 'x'], /id: must be/],
  [2, ['policies', 'put', 'x:'], /\/capacity: is required/],
  [3, ['queues', 'send', 'nothing', '1'], /no queue "nothing"/],
  [4, ['feeds', 'list', '--url', 'http://127.0.0.1:2'], /can't be reached.*ECONNREFUSED/],
  [4, ['feeds', 'list', '--database-url', 'mysql://u:p@127.0.0.1:2/x'], /ECONNREFUSED/],
])('exits with %i for %j, without a stack', async (code, args, said) => {
  const ran = await run(args, { env: { DATABASE_URL: databaseUrl } })
  expect(ran).toMatchObject({ code, stdout: '' })
  expect(ran.stderr).toMatch(said)
  expect(ran.stderr).not.toMatch(/\n +at /)
})

test('a bad environment is refused with every fault', async () => {
  const bad = ['RECENTN_POOL_SIZE', 'RECENTN_LOG_FORMAT', 'RECENTN_LOG_LEVEL', 'RECENTN_ACCESS_LOG']
  const env = Object.fromEntries(bad.map((name) => [name, 'x']))
  const { stderr } = await command(['queues', 'list', '--database-url', databaseUrl], env)
  for (const name of bad) expect(stderr).toContain(`${name}: must be `)
})

test('a server says what a key may not do', async () => {
  const without = command(['queues', 'list', '--url', server().url])
  const reading = command(['queues', 'pause', 'mail', '--url', server().url], { RECENTN_KEY: reader })
  expect((await without).stderr).toMatch(/^recentn: An API key is required.*: give a key of that server by RECENTN_KEY/)
  expect((await reading).stderr).toMatch(/^recentn: The key \w+ does not have the scope admin\n$/)
  expect([(await without).code, (await reading).code]).toEqual([1, 1])
})

test.each([
  [['queues', 'purge'], /--dry-run[\s\S]*--yes[\s\S]*--url[\s\S]*RECENTN_KEY[\s\S]*--json/],
  [['queues', 'put'], /--max-receives <n>[\s\S]*--on-ack <text>[\s\S]*remove, archive[\s\S]*--if-tag/],
  [['queues'], /\blist .*get .*put .*ensure .*update .*drop .*send .*pause .*resume .*peek .*redrive .*purge /s],
  [['policies'], /\blist .*get .*put .*ensure .*update .*drop /s],
  [['feeds'], /\blist .*status .*drop .*changes .*move-cursor .*drop-cursor /s],
])('explains %j', async (args, text) => {
  const ran = await command([...args, '--help'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.stdout).toMatch(text)
})
