/** Settings that managed servers have, or that their operators choose. */
import { openStore } from '../../src/index'
import { run } from '../cli/support'
import { refusal } from '../contract/context'
import { startServer } from '../support/processes'
import { lacks } from '../support/servers/lacks'
import type { ServerEngine } from '../support/servers/server'
import { eventually, moment } from '../support/timing'
import { exercise } from './exercise'
import { type OddServer, withGlobal } from './odd-server'

const CALLS = 60
const OWN: Record<ServerEngine, [string, string][]> = {
  mariadb: [['gtid_strict_mode', '1']],
  mysql: [
    ['enforce_gtid_consistency', 'ON'],
    ['gtid_mode', 'ON'],
  ],
}

export function describeManagedSettings(engine: ServerEngine, serverOf: () => OddServer): void {
  const during = <T>(name: string, value: string, work: () => Promise<T>) =>
    withGlobal(serverOf().admin, name, value, work)
  const setting = async (name: string) => {
    const [rows] = await serverOf().admin.query(`SELECT @@GLOBAL.${name} AS value`)
    return String((rows as { value: unknown }[])[0]?.value)
  }

  it.each<[string, string]>([
    ['lower_case_table_names', '1'],
    ['innodb_rollback_on_timeout', '1'],
    ['binlog_row_image', 'MINIMAL'],
    ...OWN[engine],
  ])('has had %s = %s all along', async (name, value) => {
    expect(await setting(name)).toBe(value)
  })

  it('is refused by name without encryption where require_secure_transport is on, and works with it', async () => {
    if (lacks(await setting('version'), 'its own certificate')) {
      expect(await setting('require_secure_transport')).toBe('0')
      return
    }
    const url = await serverOf().database()
    await during('require_secure_transport', '1', async () => {
      const error = await refusal(openStore({ url }))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringMatching(/secure.?transport/)])
      const store = await openStore({ url: `${url}?ssl-mode=REQUIRED` })
      try {
        await exercise(store)
      } finally {
        await store.close()
      }
    })
  })

  if (engine === 'mysql') {
    it('makes no table that would get an invisible primary key', async () => {
      await during('sql_generate_invisible_primary_key', '1', async () => {
        const store = await openStore({ url: await serverOf().database() })
        try {
          await exercise(store)
          const invisible = await store.dataSource.query(
            "SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND COLUMN_NAME = 'my_row_id'",
          )
          expect(invisible).toEqual([])
        } finally {
          await store.close()
        }
      })
    })
  }

  it('runs transactions again that wait for each other where innodb_deadlock_detect is off', async () => {
    await during('innodb_deadlock_detect', '0', async () => {
      // Locks are waited for a second.
      const store = await openStore({ url: await serverOf().database(), statementTimeoutSeconds: 3 })
      try {
        const both = [moment(), moment()] as const
        let runs = 0
        const append = (first: 0 | 1) =>
          store.transaction(async (tx) => {
            runs++
            await tx.groups.append(`locked-${first}`)
            both[first].come()
            await both[1 - first]?.reached
            await tx.groups.append(`locked-${1 - first}`)
          })
        await Promise.all([append(0), append(1)])
        expect(runs).toBeGreaterThan(2)
        const counts = (await store.groups.recentMany(['locked-0', 'locked-1'])).map(
          ({ totalAppended }) => totalAppended,
        )
        expect(counts).toEqual([2n, 2n])
      } finally {
        await store.close()
      }
    })
  })

  it('with max_user_connections = 3, fewer than the pool, answers or says 503, and stores what it says', async () => {
    const url = await serverOf().database()
    await (await openStore({ url })).close()
    let stored = 0
    await during('max_user_connections', '3', async () => {
      const http = await startServer({ DATABASE_URL: url, RECENTN_ALLOW_ANONYMOUS: '1' })
      const call = async (path: string, init?: RequestInit) => {
        const answer = await fetch(`${http.url}/v1/${path}`, init)
        const { code } = (await answer.json()) as { code?: string }
        return { status: answer.status, code, again: answer.headers.get('Retry-After') }
      }
      const append = (n: number) =>
        call(`groups/few:${n % 7}/items`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: '{}',
        })
      const answers = await Promise.all(
        Array.from({ length: CALLS }, (_, n) => [append(n), call(`groups/few:${n % 7}/items`), call('queues')]).flat(),
      )
      const refused = answers.filter(({ status }) => status >= 400)
      for (const one of refused) {
        expect(one).toEqual({
          status: 503,
          code: 'database_unavailable',
          again: expect.stringMatching(/^\d+$/),
        })
      }
      // The server's own work in the background may have all three for a moment.
      await eventually(20_000, 'one is stored', async () => (await append(0)).status === 201)
      stored = answers.filter(({ status }) => status === 201).length + 1
      expect(await http.stop()).toEqual({ code: 0, signal: null })
      expect((await run(['doctor'], { env: { DATABASE_URL: url } })).code).toBe(0)
    })
    const store = await openStore({ url })
    try {
      const groups = await store.groups.recentMany(Array.from({ length: 7 }, (_, n) => `few:${n}`))
      expect(groups.reduce((sum, { totalAppended }) => sum + Number(totalAppended), 0)).toBe(stored)
    } finally {
      await store.close()
    }
  })
}
