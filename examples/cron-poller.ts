/**
 * A program for cron: welcomes by mail everyone who is new in a table that the app has anyway, and ends.
 *
 *     * * * * *  DATABASE_URL=mysql://… MAIL_URL=http://… node cron-poller.js
 *
 * The table: `signups (id, email, status)`, where `status` is `ready` by default and has an index with the id. A run
 * that takes longer than a minute meets the next one: each row is claimed by one of them. A row that a killed run had
 * claimed comes back to a later one after a minute, and a row that failed is tried in later runs, three times at most.
 *
 * Exit code 0: all that was ready is done; 1: some are to be tried again, were given up (a claim of a killed run that was
 * the last counts as well) or lost, which the line of counts tells; 2: it could not run.
 */
import { openStore, type PollResult } from 'recentn'

interface Signup {
  id: number
  email: string
}

/** Sends the mail; the id makes a second one of the same signup, as after a crash, known to the mail service. */
async function welcome(mailUrl: string, { id, email }: Signup): Promise<void> {
  const answer = await fetch(mailUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `welcome-${id}` },
    body: JSON.stringify({ to: email, subject: 'Welcome' }),
    signal: AbortSignal.timeout(10_000),
  })
  if (!answer.ok) throw new Error(`the mail service answered ${answer.status}`)
}

async function run(url: string, mailUrl: string): Promise<PollResult> {
  const store = await openStore({ url, sweep: false, publish: false }) // a process that stays does those
  try {
    const poller = store.poll<Signup>('signups', (row) => welcome(mailUrl, row), {
      auto: false,
      status: { column: 'status', done: 'welcomed', error: 'undeliverable' },
      concurrency: 5,
      maxAttempts: 3,
      backoff: { minSeconds: 60, maxSeconds: 3600 },
      onError: (error, row) => console.error(`signup ${row?.id}: ${error}`),
    })
    return await poller.once()
  } finally {
    await store.close()
  }
}

async function main(): Promise<void> {
  const { DATABASE_URL = 'sqlite:./data/app.db', MAIL_URL = 'http://127.0.0.1:8025/send' } = process.env
  try {
    const { claimed, done, retried, failed, lost } = await run(DATABASE_URL, MAIL_URL)
    console.log(
      `signups: ${claimed} claimed, ${done} welcomed, ${retried} to try again, ${failed} given up, ${lost} lost`,
    )
    process.exitCode = retried + failed + lost === 0 ? 0 : 1
  } catch (error) {
    console.error(`signups: could not run: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 2
  }
}

if (require.main === module) main()
