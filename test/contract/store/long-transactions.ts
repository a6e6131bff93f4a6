import { whereReadable } from '../../support/sessions'
import { type Context, sleep } from '../context'

const MESSAGES = 6000
const GROUPS = 6
/** Items of a group, and messages of a call. */
const EACH = 1000
const OLD_SECONDS = 2

/** An operator, or a proxy such as Vitess, that ends each transaction that has lasted too long. */
export function describeLongTransactions(context: Context): void {
  if (context.engine === 'sqlite') return

  it('purges, redrives, erases and drops in steps, where transactions of 2 seconds are killed', async () => {
    const { store } = context
    const query = (sql: string) => store.dataSource.query(sql)
    const sql =
      'SELECT trx_mysql_thread_id AS id, trx_rows_modified AS modified, TIMESTAMPDIFF(SECOND, trx_started, SYSDATE()) AS age ' +
      'FROM information_schema.innodb_trx JOIN information_schema.PROCESSLIST ON ID = trx_mysql_thread_id WHERE DB = DATABASE()'
    const [dead, queue, old] = [context.unique('dead'), context.unique('from'), context.unique('old')]
    await store.queues.put(dead)
    await store.queues.put(queue, { maxReceives: 1, deadLetterQueue: dead })
    await store.queues.put(old)
    const member = context.unique('member')
    const groups = context.unique('group')
    await store.policies.put(groups, { capacity: EACH, mode: 'history' })
    const many = Array.from({ length: EACH }, (_, body) => ({ body }))
    for (let n = 0; n < MESSAGES; n += EACH) {
      await store.queues.sendMany(queue, many)
      await store.queues.sendMany(old, many)
    }
    for (let n = 0; n < GROUPS; n++) {
      await store.groups.appendMany(many.map(({ body }) => ({ group: `${groups}${n}`, member, payload: body })))
    }
    for (let left = MESSAGES; left > 0; left -= EACH) {
      const got = await store.queues.receive(queue, { limit: EACH })
      await store.queues.nackMany(
        queue,
        got.map(({ receiptHandle }) => receiptHandle),
      )
    }
    expect((await store.queues.get(dead))?.counts.ready).toBe(MESSAGES)
    let isOn = true
    let most = 0
    const killer = (async () => {
      while (isOn) {
        for (const { id, modified, age } of await whereReadable<Record<string, string>>(query(sql))) {
          most = Math.max(most, Number(modified))
          if (Number(age) >= OLD_SECONDS) await query(`KILL ${id}`).catch(() => {})
        }
        // The servers renew this table where no session has read it for 0.1 seconds.
        await sleep(120)
      }
    })()
    try {
      expect(await store.queues.purge(old)).toEqual({ deleted: MESSAGES })
      expect(await store.queues.redrive(dead)).toEqual({ moved: MESSAGES })
      expect(await store.groups.eraseMember(member)).toEqual({ deleted: GROUPS * EACH })
      expect(await store.queues.drop(queue)).toBe(true)
      // On a quick server all of this may have been over between two looks at it.
      while (most === 0) {
        await store.queues.sendMany(old, many)
        await store.queues.purge(old)
      }
    } finally {
      isOn = false
      await killer
    }
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThan(MESSAGES)
  })
}
