/**
 * The leanest statements that leave the same messages in recentn's tables: a bare INSERT for each bulk. There are no
 * checks, no lock of the queue, no dedup ids; starts are counted in this process. recentn's worker drains what was sent.
 */
import Database from 'better-sqlite3'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { BULK_SENDERS } from '../../queue-load/sizes'
import type { Letter, QueueContender, Urls, WorkQueue } from '../../types'
import { openStoreQueue } from '../queues/recentn'
import { openConnection, quoted } from './connection'

const COLUMNS =
  'queue_id, state, sort_major, sort_minor, virtual_start, cycle_queue_id, visible_at_ms, sent_at_ms, priority, body'
const QUEUE_ID = 'SELECT id FROM recentn_queues'

interface Sender {
  send(letters: readonly Letter[]): Promise<void>
  close(): unknown
}

async function open(urls: Urls): Promise<WorkQueue> {
  // It makes the tables and the queue; while sends are measured no store is open.
  await (await openStoreQueue(urls)).close()
  const sender = urls.engine.startsWith('sqlite:') ? sqliteSender(urls.engine) : await serverSender(urls.engine)
  let store: WorkQueue | null = null
  const reopened = async (): Promise<WorkQueue> => {
    store ??= await openStoreQueue(urls, { fresh: false })
    return store
  }
  return {
    send: (letter) => sender.send([letter]),
    sendMany: (letters) => sender.send(letters),
    work: async (handle, fault) => (await reopened()).work(handle, fault),
    left: async () => (await reopened()).left(),
    close: async () => {
      await sender.close()
      await store?.close()
    },
  }
}

async function serverSender(engine: string): Promise<Sender> {
  const connections = await Promise.all(Array.from({ length: BULK_SENDERS }, () => openConnection(engine)))
  const [[queue]] = await (connections[0] as Connection).query<RowDataPacket[]>(QUEUE_ID)
  const id = (queue as unknown as number[])[0]
  const free = [...connections]
  let start = 0
  return {
    send: async (letters) => {
      const connection = free.pop()
      if (connection === undefined) throw new Error(`there are ${BULK_SENDERS} connections, one for each caller`)
      const now = Date.now()
      const rows = letters.map((letter) => {
        const at = start++
        return `(${id}, 0, 0, ${at}, ${at}, 0, ${now}, ${now}, 0, ${quoted(JSON.stringify(letter))})`
      })
      await connection.query(`INSERT INTO recentn_queue_messages (${COLUMNS}) VALUES ${rows.join(', ')}`)
      free.push(connection)
    },
    close: () => {
      for (const connection of connections) connection.destroy()
    },
  }
}

function sqliteSender(engine: string): Sender {
  const database = new Database(engine.slice('sqlite:'.length))
  database.pragma('synchronous = FULL')
  const id = database.prepare(QUEUE_ID).pluck().get() as number
  const insert = database.prepare(
    `INSERT INTO recentn_queue_messages (${COLUMNS}) VALUES (${id}, 0, 0, ?, ?, 0, ?, ?, 0, ?)`,
  )
  let start = 0
  const send = database.transaction((letters: readonly Letter[]) => {
    const now = Date.now()
    for (const letter of letters) {
      const at = start++
      insert.run(at, at, now, now, JSON.stringify(letter))
    }
  })
  return { send: async (letters) => send.immediate(letters), close: () => database.close() }
}

export const limitQueue: QueueContender = {
  name: 'limit',
  title: "the database's limit",
  server: 'engine',
  how: `a bare INSERT of recentn's rows for each bulk; ${BULK_SENDERS} connections`,
  open,
}
