/** examples/cron-poller.ts as cron runs it: separate programs, two of them at once, their lines and exit codes. */
import { setTimeout as sleep } from 'node:timers/promises'
import express, { type Response } from 'express'
import { openStore, type Store } from '../../src/index'
import { type Database, describeEngine, ENGINES, freshDatabase } from '../support/engines'
import { runExample, serve, until } from './support'

describe.each(ENGINES)('cron-poller', (engine) => {
  describeEngine(engine, 'welcomes', () => {
    let database: Database
    let store: Store
    const mails: { key: string; to: string }[] = []
    let held: Response[] | null
    let service: Awaited<ReturnType<typeof serve>>

    beforeEach(async () => {
      database = await freshDatabase(engine)
      store = await openStore({ url: database.url })
      await store.dataSource.query(
        "CREATE TABLE signups (id integer NOT NULL PRIMARY KEY, email varchar(100) NOT NULL, status varchar(22) NOT NULL DEFAULT 'ready')",
      )
      await store.dataSource.query('CREATE INDEX signups_status ON signups (status, id)')
      mails.length = 0
      held = null
      const app = express().use(express.json())
      app.post('/send', (request, response) => {
        mails.push({ key: String(request.get('Idempotency-Key')), to: request.body.to })
        if (request.body.to === 'nobody') response.sendStatus(500)
        else if (held) held.push(response)
        else response.sendStatus(202)
      })
      service = await serve(app)
    })
    afterEach(async () => {
      service.close()
      await store.close()
      await database.drop()
    })

    const cron = (signal?: AbortSignal) =>
      runExample('cron-poller.ts', { DATABASE_URL: database.url, MAIL_URL: `${service.url}/send` }, signal)
    const signUp = (...emails: string[]) =>
      store.dataSource.query(
        `INSERT INTO signups (id, email) VALUES ${emails.map((email, index) => `(${index + 1}, '${email}')`).join(', ')}`,
      )
    const states = async (): Promise<string[]> =>
      (await store.dataSource.query('SELECT status FROM signups ORDER BY id')).map(
        (row: { status: string }) => row.status,
      )

    it('everyone once, by two runs that overlap', async () => {
      const everyone = Array.from({ length: 30 }, (_, index) => `u${index + 1}`)
      await signUp(...everyone)
      const answers: Response[] = []
      held = answers
      const both = [cron(), cron()]
      // Each has five under way at most. One is answered now and then, so that none waits for the ten seconds that the
      // program gives it, however late the other program starts.
      await until('both runs are at work', async () => {
        if (answers.length > 5) return true
        await sleep(1000)
        answers.shift()?.sendStatus(202)
        return false
      })
      held = null
      for (const answer of answers) answer.sendStatus(202)
      const runs = await Promise.all(both)
      expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual([
        [0, ''],
        [0, ''],
      ])
      const counts = runs.map(({ stdout }) =>
        /^signups: (\d+) claimed, (\d+) welcomed, 0 to try again, 0 given up, 0 lost\n$/
          .exec(stdout)
          ?.slice(1)
          .map(Number),
      )
      expect((counts[0]?.[0] ?? 0) + (counts[1]?.[0] ?? 0)).toBe(30)
      expect((counts[0]?.[1] ?? 0) + (counts[1]?.[1] ?? 0)).toBe(30)
      expect(mails.map(({ to }) => to).sort()).toEqual(everyone.sort())
      expect(new Set(mails.map(({ key }) => key)).size).toBe(30)
      expect(new Set(await states())).toEqual(new Set(['welcomed']))
      expect(await cron()).toEqual({
        code: 0,
        stdout: 'signups: 0 claimed, 0 welcomed, 0 to try again, 0 given up, 0 lost\n',
        stderr: '',
      })
    })

    it('whom it can, and tells by line and exit code whom it could not', async () => {
      await signUp('anna', 'nobody', 'fred')
      expect(await cron()).toEqual({
        code: 1,
        stdout: 'signups: 3 claimed, 2 welcomed, 1 to try again, 0 given up, 0 lost\n',
        stderr: 'signup 2: Error: the mail service answered 500\n',
      })
      const [anna, , fred] = await states()
      expect([anna, fred]).toEqual(['welcomed', 'welcomed'])
      // It comes again after a minute at the earliest.
      expect(await cron()).toMatchObject({ code: 0, stdout: expect.stringContaining('0 claimed') })
    })

    it('and reports the row that it gave up without trying again', async () => {
      await signUp('anna', 'fred')
      held = []
      const killing = new AbortController()
      const killed = cron(killing.signal)
      await until('both mails are under way', () => held?.length === 2)
      killing.abort()
      await killed
      // As if that had been its last attempt, long ago.
      await store.dataSource.query('UPDATE recentn_poll_claims SET attempts = 3, due_at_ms = 1')
      held = null
      const { code, stdout } = await cron()
      expect([code, stdout]).toEqual([1, 'signups: 0 claimed, 0 welcomed, 0 to try again, 2 given up, 0 lost\n'])
    })
  })
})

describe('cron-poller', () => {
  it('says that it could not run', async () => {
    const ran = await runExample('cron-poller.ts', { DATABASE_URL: 'mysql://nobody:x@127.0.0.1:1/none' })
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^signups: could not run: .+\n$/) })
  })
})
