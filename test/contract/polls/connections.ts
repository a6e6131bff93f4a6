import { attachStore } from '../../../src/index'
import { type Context, refusal, userSource } from '../context'
import { pollTools } from './tools'

/** The settings of the connections of a server: their time zone, and how many there are. */
export function describePollConnections(context: Context): void {
  if (context.engine === 'sqlite') return // its times are UTC, and it has one connection
  const { query, made, poll } = pollTools(context)

  describe('polls: a time zone with summer time', () => {
    const ZONE = 'Recentn/Summer'
    const fill = async () => {
      const seconds = (year: number, month: number) => Date.UTC(year, month, 25, 1) / 1000
      const years = [0, 1, 2, 3].map((more) => new Date().getUTCFullYear() - 1 + more)
      const moves = years.flatMap((year) => [`(7777, ${seconds(year, 2)}, 1)`, `(7777, ${seconds(year, 9)}, 0)`])
      for (const sql of [
        "time_zone (Time_zone_id, Use_leap_seconds) VALUES (7777, 'N')",
        `time_zone_name (Name, Time_zone_id) VALUES ('${ZONE}', 7777)`,
        'time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation) ' +
          "VALUES (7777, 0, 3600, 0, 'A'), (7777, 1, 7200, 1, 'B')",
        `time_zone_transition (Time_zone_id, Transition_time, Transition_type_id) VALUES ${moves.join(', ')}`,
      ]) {
        await query(`INSERT IGNORE INTO mysql.${sql}`)
      }
    }
    it.each([
      ['datetime', true],
      ['timestamp', true],
      ['bigint', false],
    ])('is refused for the times of claims: %s', async (type, isRefused) => {
      await fill()
      const name = await made(
        `id integer NOT NULL PRIMARY KEY, n integer, by_key varchar(22), tries integer, at ${type} NULL`,
      )
      const source = userSource(context.url, [])
      await source.initialize()
      context.afterwards(() => source.destroy())
      const { pool } = source.driver as never as { pool: { on(event: string, use: (c: never) => void): void } }
      pool.on('connection', (connection: { query(sql: string): void }) => connection.query(`SET time_zone = '${ZONE}'`))
      const runner = source.createQueryRunner()
      await runner.query(`SET time_zone = '${ZONE}'`)
      await runner.release()
      const store = await attachStore(source, { sweep: false, publish: false })
      context.afterwards(() => store.close())
      const claim = { claim: 'by_key', attempts: 'tries', nextTime: 'at' }
      const run = poll(name, () => {}, { claim }, store).once()
      if (!isRefused) return void (await run)
      expect(await refusal(run)).toMatchObject({ code: 'invalid_input', faults: [{ pointer: '/claim/nextTime' }] })
      // In a time zone without it, the same table is polled.
      await poll(name, () => {}, { claim }).once()
    })
  })

  describe('polls: as many handlers as connections', () => {
    it('are reported at the start', async () => {
      const name = await made(`id integer NOT NULL PRIMARY KEY, n integer`)
      const store = await context.open({ poolSize: 3 })
      const warnings: string[] = []
      for (const concurrency of [2, 3]) {
        await poll(name, () => {}, { concurrency, onWarning: (one) => warnings.push(one) }, store).once()
      }
      expect(warnings).toEqual([expect.stringMatching(/3 handlers at once and a pool of 3 connections/)])
    })
  })
}
