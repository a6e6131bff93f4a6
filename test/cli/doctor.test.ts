import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { DataSource } from 'typeorm'
import { findingsJson } from '../../src/cli/doctor'
import { clusterAnswer, connectionsAnswer } from '../../src/cli/doctor-servers'
import { dataSourceOptions } from '../../src/database/opening/connect'
import { openStore } from '../../src/store/open'
import { recorded } from '../contract/queues/recorded'
import { describeEngine, destroyNow, destroySource, engineUrl, freshDatabase } from '../support/engines'
import { eventually, pause } from '../support/timing'
import { command, run, temporaryFolder } from './support'

const folder = temporaryFolder()
afterAll(() => folder.remove())

let count = 0
const freshUrl = () => `sqlite:${join(folder.path, `${++count}.db`)}`

const served = (['mariadb', 'mysql'] as const).filter((engine) => engineUrl(engine) !== null)

describe('recentn migrate and doctor on sqlite', () => {
  it('say what is missing, fix it and find it good', async () => {
    const url = freshUrl()
    const before = await run(['doctor', '--database-url', url])
    expect(before).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^WRONG connection +there is no file .*\n.*recentn migrate/),
    })
    expect(existsSync(url.slice('sqlite:'.length))).toBe(false)
    const migrated = await run(['migrate'], { env: { DATABASE_URL: url } })
    expect(migrated).toMatchObject({ code: 0, stdout: expect.stringMatching(/ is at schema version \d+,/) })
    const after = await run(['doctor', '--database-url', url])
    expect(after.code).toBe(0)
    expect(after.stdout).toMatch(/ok +schema +up to date, version \d+\nok +version +SQLite 3[\s\S]*ok +file +sound/)
    expect(after.stdout).not.toMatch(/WRONG|WARN/)
  })

  it('say which database cannot be reached, without user and password', async () => {
    const url = 'mysql://nobody:secret@127.0.0.1:1/shop'
    const said = /The database mysql:\/\/127\.0\.0\.1:1\/shop cannot be reached: connect ECONNREFUSED/
    const doctor = await command(['doctor', '--database-url', url])
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(said) })
    const migrated = await command(['migrate'], { DATABASE_URL: url })
    expect(migrated).toMatchObject({ code: 4, stderr: expect.stringMatching(said) })
    expect(doctor.stdout + migrated.stderr).not.toMatch(/nobody|secret/)
  })

  it('say that the tables are newer than the code', async () => {
    const url = freshUrl()
    const store = await openStore({ url, sweep: false })
    await store.dataSource.query('UPDATE recentn_schema SET version = 9999')
    await store.close()
    const ran = await command(['doctor', '--database-url', url])
    expect(ran).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/WRONG schema .*newer than this code[\s\S]*newer recentn/),
    })
    const migrated = await command(['migrate', '--database-url', url])
    expect(migrated).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/newer than this code/) })
  })
})

describe.each(['sqlite' as const, ...served])('recentn migrate and doctor on %s', (engine) => {
  it('leave a table of the user alone, name it, and work beside it with another prefix', async () => {
    const database = await freshDatabase(engine)
    const user = new DataSource(dataSourceOptions({ url: database.url, tablePrefix: 'none_' }))
    await user.initialize()
    await user.query('CREATE TABLE recentn_sequences (name varchar(20), next_val bigint)')
    const url = ['--database-url', database.url]
    const refused = await command(['migrate', ...url])
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toMatch(
      /^recentn: .*recentn_sequences \(a table with the columns name, next_val\).*RECENTN_TABLE_PREFIX/,
    )
    const taken = await command(['doctor', ...url])
    expect(taken.code).toBe(1)
    expect(taken.stdout).toMatch(
      /ok +connection .*\nWRONG +schema .*recentn_sequences \(a table .*\n.*RECENTN_TABLE_PREFIX/,
    )
    const env = { RECENTN_TABLE_PREFIX: 'shop_' }
    expect(await command(['migrate', ...url], env)).toMatchObject({ code: 0, stderr: '' })
    const made = await command(['keys', 'create', '--label', 'a', '--scope', 'read', ...url], env)
    expect(made.code).toBe(0)
    expect(await user.query('SELECT label FROM shop_keys')).toEqual([{ label: 'a' }])
    const fine = await command(['doctor', ...url], env)
    expect(fine.stdout).toMatch(/ok +schema +up to date, version \d+\n/)
    expect(fine.stdout).not.toMatch(/WRONG/)
    await user.query('ALTER TABLE shop_queues RENAME COLUMN paused TO halted')
    const changed = await command(['doctor', ...url], env)
    expect(changed.code).toBe(1)
    expect(changed.stdout).toMatch(/WRONG +schema .*shop_queues has no column paused; shop_queues has a column halted/)
    expect(await user.query('SELECT * FROM recentn_sequences')).toEqual([])
    await destroySource(user)
    await database.drop()
  })
})

describe.each(['sqlite' as const, ...served])('recentn doctor on %s', (engine) => {
  it('names dead messages, entries without a publisher, and consumers that are far behind', async () => {
    const database = await freshDatabase(engine)
    // Its clock is two hours behind, so that what it writes is old for all others.
    const store = await openStore({ url: database.url, sweep: false, publish: false, clockOffsetMs: () => -7_200_000 })
    const fine = await command(['doctor', '--database-url', database.url])
    expect(fine.stdout).toMatch(/ok +queues +0 messages ready, 0 in flight, 0 delayed, 0 dead\n/)
    expect(fine.stdout).toMatch(/ok +feeds +0 entries wait to be published, no consumers\n/)
    await store.queues.put('mail')
    await store.queues.sendMany('mail', [{ body: 1 }, { body: 2 }])
    const [claimed] = await store.queues.receive('mail')
    await store.queues.nackMany('mail', [claimed?.receiptHandle ?? ''], { dead: true })
    await store.feeds.put('news', 'k', 1)
    await store.feeds.publish()
    await store.feeds.moveCursor('news', 'slow', 0n)
    await store.dataSource.query("UPDATE recentn_sequences SET value = 20000 WHERE sequence_name = 'news'")
    await store.feeds.put('news', 'k', 2)
    await store.close()
    const said = await command(['doctor', '--database-url', database.url])
    expect(said.stdout).toMatch(/WARN +queues +1 messages ready, .* 1 dead, the oldest waits for 72\d\d s\n/)
    expect(said.stdout).toMatch(
      /-> look at lastError, .* dead messages of "mail" \(1\); see that workers run on "mail" \(1\)\n/,
    )
    expect(said.stdout).toMatch(/WARN +feeds +1 entries wait to be published for up to 72\d\d s, .* up to 20000 behind/)
    expect(said.stdout).toMatch(
      /-> see that a process with a publisher runs.* for "news" \(1\); .*: "slow" of "news" \(20000\)\n/,
    )
    // It warns; nothing is wrong with the database.
    expect(said.code).toBe(0)
    await database.drop()
  })

  it('gives the advice for queues that are late, that grow, or both, once', async () => {
    const database = await freshDatabase(engine)
    const behind = { offsetMs: -7_200_000 }
    const store = await openStore({
      url: database.url,
      sweep: false,
      publish: false,
      clockOffsetMs: () => behind.offsetMs,
    })
    const { queues } = store
    for (const queue of ['late', 'both', 'growing']) await queues.put(queue, { visibilityTimeoutSeconds: 43_200 })
    const sendTo = (queue: string, count: number) => queues.sendMany(queue, Array(count).fill({ body: 1 }))
    for (const queue of ['late', 'both']) {
      await sendTo(queue, 20)
      await queues.receive(queue)
    }
    behind.offsetMs = -630_000
    for (let n = 0; n < 3; n++) {
      await sendTo('both', 20)
      // It grows, but its messages are new.
      await queues.purge('growing')
      await sendTo('growing', 20 * (n + 1))
      await recorded(store)
      if (n < 2) behind.offsetMs += 300_000
    }
    await store.close()
    const said = await command(['doctor', '--database-url', database.url])
    expect(said.stdout).toContain('-> workers do not keep up with "both" (79), "late" (19), "growing" (60); see')
    await database.drop()
  })

  it('names the dead letters where they are, and says nothing of workers when nothing waits but them', async () => {
    const database = await freshDatabase(engine)
    const store = await openStore({ url: database.url, sweep: false, publish: false, clockOffsetMs: () => -7_200_000 })
    const { queues, schedules } = store
    await queues.put('mail-dead')
    await queues.put('mail', { maxReceives: 1, deadLetterQueue: 'mail-dead' })
    await queues.put('empty-dead')
    await queues.put('jobs', { maxReceives: 1, deadLetterQueue: 'empty-dead' })
    await queues.put('own')
    for (const [queue, count] of [
      ['mail', 3],
      ['own', 2],
    ] as const) {
      await queues.sendMany(
        queue,
        Array.from({ length: count }, (_, body) => ({ body })),
      )
      const claimed = await queues.receive(queue, { limit: count })
      await queues.nackMany(
        queue,
        claimed.map(({ receiptHandle }) => receiptHandle),
        { dead: true },
      )
    }
    // One of the letters is looked into just now.
    await queues.receive('mail-dead', { visibilityTimeoutSeconds: 43_200 })
    await schedules.put('nightly', { queue: 'own', everySeconds: 60, body: 1 })
    await store.close()
    const said = await command(['doctor', '--database-url', database.url])
    expect(said.stdout).toMatch(/WARN +queues +0 messages ready, 0 in flight, 0 delayed, 5 dead\n/)
    expect(said.stdout).toContain(
      '-> look at lastError, then redrive or delete the dead messages of "mail" (3 in "mail-dead"), "own" (2); see whether the receivers still run that hold messages of "mail-dead" (1)\n',
    )
    expect(said.stdout).not.toMatch(/workers run|empty-dead/)
    // The clock of the store was two hours behind.
    expect(said.stdout).toMatch(
      /WARN +schedules +there are some\n +-> .*see that a process sends ticks \(.*\), for "nightly" \(1\)\n/,
    )
    await database.drop()
  })
})

test.each([
  [{}, 'ok', 'none, as far as its variables say'],
  [{ wsrep_on: 'OFF' }, 'ok', 'none, as far as its variables say'],
  [{ aurora_version: '3.08.0' }, 'ok', 'Aurora 3.08.0'],
  [{ wsrep_on: 'ON' }, 'warning', 'Galera'],
  [
    { group_replication_group_name: 'a-b', group_replication_single_primary_mode: 'OFF' },
    'warning',
    'several primaries',
  ],
  [{ group_replication_group_name: 'a-b', group_replication_single_primary_mode: 'ON' }, 'ok', 'single primary'],
  [
    { group_replication_group_name: '', group_replication_single_primary_mode: 'OFF' },
    'ok',
    'none, as far as its variables say',
  ],
])('a server with %j is %s: %s', (settings, state, found) => {
  const answer = clusterAnswer(new Map(Object.entries(settings)))
  expect(answer).toMatchObject({ state, found: expect.stringContaining(found) })
  expect(answer.fix === undefined).toBe(state === 'ok')
})

test.each([
  [{ pool: 10, max: 151, now: 5, most: 20 }, 'ok'],
  [{ pool: 10, max: 151, now: 142, most: 142 }, 'warning'],
  [{ pool: 10, max: 151, now: 5, most: 151 }, 'warning'],
  [{ pool: 200, max: 151, now: 5, most: 20 }, 'warning'],
])('connections %j are %s', (counts, state) => {
  expect(connectionsAnswer(counts).state).toBe(state)
})

test('findings as JSON have what to fix', () => {
  const finding = { check: 'schema', state: 'wrong', found: 'none' } as const
  const json = findingsJson([{ ...finding, fix: 'run "recentn migrate"' }])
  expect(JSON.parse(json)).toEqual({ findings: [{ ...finding, fix: 'run "recentn migrate"' }] })
})

for (const engine of ['mariadb', 'mysql'] as const) {
  describeEngine(engine, 'recentn doctor', () => {
    it('finds a server fit, and who holds locks on our tables', async () => {
      const database = await freshDatabase(engine)
      const before = await command(['doctor', '--database-url', database.url])
      expect(before).toMatchObject({ code: 1, stdout: expect.stringMatching(/WRONG +schema[\s\S]*recentn migrate/) })
      await command(['migrate', '--database-url', database.url])
      const free = await command(['doctor', '--database-url', database.url, '--json'])
      const states = JSON.parse(free.stdout).findings.map((one: { check: string; state: string }) => [
        one.check,
        one.state,
      ])
      const checks = [
        'connection',
        'schema',
        'version',
        'isolation',
        'texts',
        'settings',
        'sessions',
        'SKIP LOCKED',
        'durability',
        'writes',
        'clock',
      ]
      checks.push('locks', 'connections', 'cluster', 'queues', 'schedules', 'feeds', 'door')
      expect(states.map(([check]: string[]) => check)).toEqual(checks)
      // The settings of a test server are not ours to judge, and others may be using it.
      expect(states.filter(([, state]: string[]) => state === 'wrong' || state === 'unknown')).toEqual([])

      const holder = await createConnection({ uri: database.url.replace(/^mariadb:/, 'mysql:') })
      await holder.query('BEGIN')
      await holder.query('UPDATE recentn_schema SET version = version')
      await holder.query("INSERT INTO recentn_policies (prefix, capacity, mode) VALUES ('held', 1, 'history')")
      await holder.query('UPDATE recentn_policies SET capacity = 2')
      // While this runs, MySQL can read neither its connections nor its transactions in information_schema.
      const asleep = holder.query("SELECT SLEEP(100), '😀'").catch(() => {})
      const said = new RegExp(`connection ${holder.threadId} \\(.*\\), in its transaction for \\d+ s: [1-9]`)
      // InnoDB shows the transactions that it showed last where it was asked within the last 0.1 seconds.
      await eventually(30_000, `doctor says ${said}`, async () => {
        await pause(150)
        const held = await command(['doctor', '--database-url', database.url])
        return said.test(held.stdout)
      })
      const killer = await createConnection({ uri: database.url.replace(/^mariadb:/, 'mysql:') })
      await killer.query(`KILL QUERY ${holder.threadId}`)
      destroyNow(killer)
      await asleep
      await holder.query('ROLLBACK')
      destroyNow(holder)
      await database.drop()
    })

    it('says what this user may not look at, and that a password is wrong', async () => {
      const database = await freshDatabase(engine)
      await command(['migrate', '--database-url', database.url])
      const root = await createConnection({ uri: database.url.replace(/^mariadb:/, 'mysql:') })
      const name = new URL(database.url).pathname.slice(1)
      await root.query(`CREATE USER '${name.slice(-12)}'@'%' IDENTIFIED BY 'secret'`)
      await root.query(`GRANT ALL ON ${name}.* TO '${name.slice(-12)}'@'%'`)
      const url = new URL(database.url)
      url.username = name.slice(-12)
      url.password = 'secret'
      const low = await command(['doctor', '--database-url', url.href])
      expect(low.code).toBe(0)
      expect(low.stdout).toMatch(/\? +locks +this user may not look \(.*\n +-> grant the user PROCESS/)
      url.password = 'wrong'
      const denied = await command(['doctor', '--database-url', url.href])
      expect(denied).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^WRONG +connection +\w+:\/\/\S+ can't be used: .*Access denied/),
      })
      await root.query(`DROP USER '${name.slice(-12)}'@'%'`)
      destroyNow(root)
      await database.drop()
    })
  })
}
