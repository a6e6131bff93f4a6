/** A server whose disk is full for a while. */

import { type Connection, createConnection } from 'mysql2/promise'
import { openStore, type Store } from '../../src/index'
import { innerOf } from '../../src/store/inner'
import { eventually, refusal } from '../contract/context'
import { mysqlUri, type Server, type ServerEngine } from '../support/servers/server'
import { startServerWith } from './odd-server'

/** Room for the server itself and some megabytes. */
const MEGABYTES = 256
const SETTINGS: Record<ServerEngine, string[]> = {
  mariadb: ['--innodb-log-file-size=4M', '--innodb-temp-data-file-path=ibtmp1:4M:autoextend'],
  mysql: ['--innodb-redo-log-capacity=8M', '--disable-log-bin'],
}
const PAYLOAD = 'x'.repeat(3000)

jest.setTimeout(180_000)

export function describeFullDisk(engine: ServerEngine): void {
  let server: Server | null = null
  let admin: Connection
  let store: Store

  beforeAll(async () => {
    server = await startServerWith(engine, SETTINGS[engine], { megabytes: MEGABYTES }).catch((error: Error) => {
      process.stderr.write(`NOT TESTED: a full disk on ${engine}: ${error.message}\n`)
      return null
    })
    if (server === null) return
    admin = await createConnection({ uri: mysqlUri(server.url) })
    await admin.query('CREATE DATABASE full_disk')
    await admin.query('CREATE DATABASE filler')
    store = await openStore({ url: `${server.url}full_disk`, sweep: false, defaultCapacity: 10_000 })
  })

  afterAll(async () => {
    await store?.close()
    admin?.destroy()
    await server?.stop()
  })

  /**
   * Takes all room that is left. Large rows would be faster, but MariaDB ends itself when it has no room for rolling one
   * back ("Out of disk space in rollback").
   */
  async function fill(): Promise<void> {
    await admin.query('CREATE TABLE filler.filler (id int AUTO_INCREMENT PRIMARY KEY, room varbinary(8000))')
    const row = "(REPEAT('x', 7000))"
    const insert = (rows: number) =>
      admin.query(`INSERT INTO filler.filler (room) VALUES ${Array(rows).fill(row).join(', ')}`)
    for (let n = 0; n < 150; n++) await insert(100)
    const isFull = () =>
      insert(1).then(
        () => false,
        () => true,
      )
    while (!(await isFull()));
  }

  it('refuses writes as database_unavailable, keeps what it acknowledged, and continues when there is room', async () => {
    if (server === null) return
    const stored = { groups: [] as number[], queue: [] as number[], feed: [] as number[] }
    await store.queues.put('full')
    const write: Record<keyof typeof stored, (n: number) => Promise<unknown>> = {
      groups: (n) => store.groups.appendMany(['a', 'b'].map((group) => ({ group, payload: { n, PAYLOAD } }))),
      queue: (n) => store.queues.send('full', { n, PAYLOAD }),
      feed: (n) => store.feeds.put('full', `k${n}`, { n, PAYLOAD }),
    }
    const products = Object.keys(stored) as (keyof typeof stored)[]
    const writeAll = (n: number) =>
      Promise.all(products.map((product) => write[product](n).then(() => stored[product].push(n))))
    await writeAll(0)
    await fill()
    for (const product of products) {
      const codes = new Set<string>()
      // The room that is left in the table's file takes some rows.
      for (let n = 1; codes.size === 0 && n < 5000; n++) {
        const outcome = await write[product](n).then(
          () => null,
          (error: unknown) => error,
        )
        if (outcome === null) stored[product].push(n)
        else codes.add((await refusal(Promise.reject(outcome))).code)
      }
      expect([product, [...codes]]).toEqual([product, ['database_unavailable']])
    }
    expect(innerOf(store).counts().isDiskFull).toBe(true)
    await store.ping()
    expect((await store.groups.recent('a')).totalAppended).toBe(BigInt(stored.groups.length))

    await admin.query('DROP TABLE filler.filler')
    await writeAll(5000)
    for (const group of ['a', 'b']) {
      const { items, totalAppended } = await store.groups.recent(group, { limit: 10_000 })
      expect(items.map(({ payload }) => (payload as { n: number }).n).reverse()).toEqual(stored.groups)
      expect(totalAppended).toBe(BigInt(stored.groups.length))
    }
    const bodies: number[] = []
    await eventually(60_000, 'all are received', async () => {
      const messages = await store.queues.receive('full', { limit: 100 })
      for (const { body } of messages) bodies.push((body as { n: number }).n)
      return messages.length === 0
    })
    expect(bodies.sort((a, b) => a - b)).toEqual(stored.queue)
    await eventually(10_000, 'writes succeed again', async () => {
      await store.groups.append('c')
      return !innerOf(store).counts().isDiskFull
    })
    for (const n of stored.feed) expect((await store.feeds.get('full', `k${n}`))?.value).toMatchObject({ n })
  })
}
