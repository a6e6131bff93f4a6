import { innerOf } from '../../../src/store/inner'
import { CuttingProxy } from '../../support/cutting-proxy'
import { type Context, eventually, refusal, sleep } from '../context'

/** The statements of an idle store. */
export function describeIdleStore(context: Context): void {
  if (context.engine === 'sqlite') return

  it('a store with a worker, a consumer, a followed table and a poller sends at most five packets a second when nothing happens', async () => {
    // By itself: what other tests have left in theirs becomes due while this one looks.
    const url = await context.emptyDatabase()
    const proxy = await CuttingProxy.before(url)
    context.afterwards(() => proxy.close())
    const store = await context.open({ url: proxy.through(url), publish: true, sweep: true })
    const [feed, queue, table] = [context.unique('f'), context.unique('q'), 'idle_users']
    const { dataSource } = store
    await dataSource.query(
      `CREATE TABLE ${table} (id integer NOT NULL PRIMARY KEY, sync bigint NULL, status varchar(40))`,
    )
    await dataSource.query(`CREATE INDEX ${table}_sync ON ${table} (sync)`)
    await dataSource.query(`CREATE INDEX ${table}_status ON ${table} (status, id)`)
    await store.feeds.follow(table, { syncColumn: 'sync', key: 'id', feed })
    await store.queues.put(queue)
    const errors: unknown[] = []
    const onError = (error: unknown) => void errors.push(error)
    const running = [
      store.queues.work(queue, async () => {}, { onError }),
      store.feeds.consume(feed, 'idle', async () => {}, { onError }),
      store.poll(table, async () => {}, { status: 'status', onError }),
    ]
    // The longer nothing has happened, the less often the store looks.
    let perSecond = Number.POSITIVE_INFINITY
    let sent: string[] = []
    for (let looks = 0; looks < 8 && perSecond > 5; looks++) {
      const since = performance.now()
      sent = proxy.record()
      await sleep(5000)
      perSecond = sent.length / ((performance.now() - since) / 1000)
    }
    await Promise.all(running.map((one) => one.stop()))
    expect(errors).toEqual([])
    // A failure says what was sent.
    const texts = sent.map((packet) => packet.slice(0, 300))
    expect([perSecond, perSecond <= 5 ? [] : texts]).toEqual([expect.any(Number), []])
  })

  it('a store says once that the database is away, and again when it is away again', async () => {
    const proxy = await CuttingProxy.before(context.url)
    context.afterwards(() => proxy.close())
    const told: unknown[] = []
    const onBackgroundError = (error: unknown) => told.push((error as { code?: string }).code)
    const url = proxy.through(context.url)
    const store = await context.open({ url, sweep: true, publish: true, tick: true, onBackgroundError })
    const answers = () =>
      store.ping().then(
        () => true,
        () => false,
      )
    const rounds = () => innerOf(store).counts().sweeperRounds
    for (const times of [1, 2]) {
      await eventually(30_000, 'the database answers', answers)
      // Work that has failed all along says nothing of a second outage.
      const before = rounds()
      await eventually(60_000, 'a sweeper has found it back', () => rounds() > before)
      proxy.refuse()
      await eventually(30_000, 'it is reported', async () => told.length >= times)
      // Long enough for all others to find it out.
      for (let call = 0; call < 2; call++) expect((await refusal(store.ping())).code).toBe('database_unavailable')
      expect(told).toEqual(Array(times).fill(expect.stringMatching(/^(database_unavailable|outcome_unknown)$/)))
      await proxy.accept()
    }
  })
}
