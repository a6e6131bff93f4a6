/**
 * A TCP proxy before a MySQL or MariaDB server that shares connections, as ProxySQL's multiplexing does: what a client sends outside
 * of a transaction goes to two connections of the server in turns, and a transaction to one of them. It reads along in whole
 * packets (3 bytes of length, 1 of sequence, which is 0 where a command begins) and knows statements as texts only.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createConnection } from 'mysql2'

const [QUIT, QUERY] = [0x01, 0x03]

/** The statements that begin and end a transaction, in a packet of several. */
const CONTROL = /\b(?:(START TRANSACTION|BEGIN)|COMMIT|ROLLBACK(?! TO))\b/g

export class MultiplexingProxy {
  readonly #server: Server
  readonly #url: URL
  readonly #sockets = new Set<Socket>()
  #isSharing = false

  /** `from`: the first statement that is shared, whoever sends it. */
  private constructor(
    url: string,
    private readonly from: RegExp,
  ) {
    this.#url = new URL(url)
    this.#server = createServer((client) => {
      this.#accept(client).catch(() => client.destroy())
    })
  }

  static async before(url: string, from = /^/): Promise<MultiplexingProxy> {
    const proxy = new MultiplexingProxy(url, from)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** The same database, by way of the proxy. */
  get url(): string {
    const own = new URL(this.#url)
    own.hostname = '127.0.0.1'
    own.port = String((this.#server.address() as AddressInfo).port)
    return own.toString()
  }

  async close(): Promise<void> {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  async #accept(client: Socket): Promise<void> {
    this.#keep(client)
    client.pause()
    // The client logs in to the first itself: its password fits no other greeting.
    const first = connect({ host: this.#url.hostname, port: Number(this.#url.port || 3306), noDelay: true })
    const servers = [this.#keep(first), await this.#loggedIn()]
    for (const server of servers) {
      server.on('data', (chunk) => client.write(chunk)).on('close', () => client.destroy())
      client.on('close', () => server.destroy())
    }
    let turn = 0
    let isOpen = false
    const send = (packet: Buffer) => {
      const isCommand = packet[3] === 0
      const sql = isCommand && packet[4] === QUERY ? packet.toString('latin1', 5) : ''
      if (sql !== '') this.#isSharing ||= this.from.test(sql)
      if (sql !== '' && this.#isSharing && !isOpen) turn = 1 - turn
      for (const [, begins] of sql.matchAll(CONTROL)) isOpen = begins !== undefined
      if (isCommand && packet[4] === QUIT) for (const server of servers) server.end(packet)
      else servers[turn]?.write(packet)
    }
    let rest: Buffer = Buffer.alloc(0)
    client.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        const end = rest.length < 4 ? Number.POSITIVE_INFINITY : 4 + rest.readUIntLE(0, 3)
        if (end > rest.length) break
        send(rest.subarray(0, end))
        rest = rest.subarray(end)
      }
    })
    client.resume()
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket)
    return socket.setNoDelay(true).on('error', () => socket.destroy())
  }

  /** A connection of the proxy's own, with the capabilities of the clients. */
  async #loggedIn(): Promise<Socket> {
    const uri = this.#url.toString().replace(/^mariadb:/, 'mysql:')
    const connection = createConnection({ uri, multipleStatements: true, charset: 'utf8mb4' })
    await once(connection, 'connect')
    const { stream } = connection as unknown as { stream: Socket }
    for (const event of ['data', 'end', 'close', 'error']) stream.removeAllListeners(event)
    return this.#keep(stream)
  }
}
