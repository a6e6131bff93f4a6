/**
 * The pool of our own connections to MySQL or MariaDB. TypeORM has it made, as the driver of its DataSource, and gets views of
 * its connections; the store takes the connections themselves.
 */
import type { Socket } from 'node:net'
import type { Pool, PoolConnection, PoolOptions } from 'mysql2'
import type { DataSource } from 'typeorm'
import { setImmediate } from '../../shared/platform'
import { viewOf } from '../attached/driver-view'
import type { Opened } from '../connection'
import { MysqlConnection } from './mysql-connection'
import { isRefusedPassword } from './password'

interface PoolMaker {
  createPool(options: PoolOptions): Pool
}

const pools = new WeakMap<DataSource, OwnPool>()

/** The pool of a DataSource that we have opened; undefined for another. */
export const ownPoolOf = (source: DataSource): OwnPool | undefined => pools.get(source)

export class OwnPool {
  /** True where a packet may have only one statement with an effect (`packets.ts`). */
  isParted = false
  #pool: Pool | null = null
  #source: DataSource | null = null

  /** `mysql2`: the driver. `asksAgain`: a refused password may have changed since. */
  constructor(
    private readonly mysql2: PoolMaker,
    private readonly asksAgain = false,
  ) {}

  /** The object that TypeORM takes for its driver. */
  readonly driver: PoolMaker = {
    createPool: (options) => {
      const pool = this.mysql2.createPool(options)
      this.#pool = pool
      const sockets = new Set<Socket>()
      pool.on('connection', (connection) => {
        const { stream } = connection as unknown as { stream: Socket }
        sockets.add(stream)
        stream.once('close', () => sockets.delete(stream))
      })
      // As mysql_close of the C library, it does not wait for the server's end: one that hangs would keep the process alive.
      const end: Pool['end'] = (done) =>
        pool.end((error) => {
          // mysql2 writes the last COM_QUIT after this callback, in the same turn of the event loop.
          setImmediate(() => {
            for (const socket of sockets) socket.destroySoon()
            done?.(error)
          })
        })
      const getConnection: Pool['getConnection'] = (done) =>
        this.#take((error, connection) => (error ? done(error, connection) : done(null, this.#on(connection).view)))
      return viewOf(pool, { getConnection, end })
    },
  }

  belongsTo(source: DataSource): void {
    this.#source = source
    pools.set(source, this)
  }

  open = (done: Opened): void => {
    this.#take((error, connection) => (error ? done(error) : done(null, this.#on(connection))))
  }

  #take(done: Parameters<Pool['getConnection']>[0]): void {
    this.#pool?.getConnection((error, connection) => {
      if (this.asksAgain && isRefusedPassword(error)) this.#pool?.getConnection(done)
      else done(error, connection)
    })
  }

  #on(connection: PoolConnection): MysqlConnection {
    return new MysqlConnection(connection, this.isParted, () =>
      (this.#source as DataSource).createQueryRunner('master'),
    )
  }
}
