/**
 * The hosts of a database URL that names several. Owns which of them is in use.
 *
 * Invariant: the connections of a store go to one host at a time, and stay there. The host changes when it does not greet a
 * new connection, or when it says that it takes no writes or has no majority. Then its idle connections are closed at once,
 * and the others when they are released.
 */
import { Socket } from 'node:net'

export interface ServerHost {
  host: string
  port: number
}

/** The parts of mysql2's connection and pool that are used. `_command` is what runs, with the number of answers so far. */
export interface ServerConnection {
  config: ServerHost
  /** By its greeting. */
  _isMariaDB: boolean
  _command?: { _resultIndex?: number } | null
  threadId?: number | null
  stream: {
    bytesRead: number
    destroyed: boolean
    destroy(error?: Error): void
    once(event: 'close', listener: () => void): void
  }
  query(sql: string, done: (error: unknown, answer?: unknown) => void): void
  on(event: 'error', listener: () => void): void
  destroy(): void
}

export interface ServerPool extends Pick<ServerConnection, 'query'> {
  _freeConnections: { length: number; get(index: number): ServerConnection }
  on(event: 'release' | 'connection', listener: (connection: ServerConnection) => void): void
}

/** The first byte of a packet that refuses a new connection, such as for `max_connections`. */
const REFUSAL = 0xff
const PACKET_HEAD = 4

/** Both servers understand these, and a Galera node without quorum answers them. */
export const LOOKS = [
  "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'super_read_only', 'innodb_read_only', 'wsrep_on', 'wsrep_provider')",
  "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment')",
]

/** A server that answers, but can't do the work of the store. */
export class UnfitHost extends Error {
  /** Its connection is lost. */
  readonly fatal = true
}

export function connectTo({ config: { host, port } }: { config: ServerHost }, socket: Socket): void {
  socket.setNoDelay(true).setKeepAlive(true)
  socket.connect({ host, port })
}

const owners = new WeakMap<object, ServerHosts>()
const pools = new WeakMap<object, ServerPool>()

export const ofPool = (connection: object, pool: ServerPool) => void pools.set(connection, pool)

/**
 * After the server of this connection refused to work, or said nothing: its idle connections are closed, so that new ones look at
 * it again. A single server that refuses is asked again on the connections that there are.
 */
export function doubtHost(connection: object, isSilent: boolean): void {
  if (isSilent || owners.has(connection)) closeIdle(pools.get(connection))
}

/**
 * After a wait for a lock that did not end: without a majority, transactions that hang in their COMMIT keep their locks. A member
 * sees that it has none a few seconds later, when new connections may have found it fit.
 */
export function checkHost(connection: object): void {
  // `require` passes over a host that is not fit.
  owners
    .get(connection)
    ?.require(connection as ServerConnection)
    .catch(() => {})
}

function closeIdle(pool: ServerPool | null | undefined): void {
  const free = pool?._freeConnections
  const idle = Array.from({ length: free?.length ?? 0 }, (_, index) => free?.get(index) as ServerConnection)
  for (const connection of idle) close(connection)
}

export class ServerHosts {
  #at = 0
  #pool: ServerPool | null = null

  constructor(readonly all: readonly ServerHost[]) {}

  get current(): ServerHost {
    return this.all[this.#at] as ServerHost
  }

  use(host: ServerHost): void {
    if (this.current === host) return
    closeIdle(this.#pool)
    this.#at = this.all.indexOf(host)
  }

  /** The driver calls this for each new connection, with the connection's own options. */
  readonly stream = ({ config }: { config: ServerHost }, socket = new Socket()): Socket => {
    const chosen = this.current
    Object.assign(config, chosen)
    connectTo({ config: chosen }, socket)
    const leave = () => this.#passOver(chosen)
    // Before the driver hears of the error, whose caller then tries again.
    socket.once('error', leave)
    socket.once('close', leave)
    socket.once('data', (bytes: Buffer) => {
      if (bytes[PACKET_HEAD] !== REFUSAL) socket.off('error', leave).off('close', leave)
    })
    return socket
  }

  follow(pool: unknown): void {
    this.#pool = pool as ServerPool
    this.#pool.on('release', (connection) => {
      if (!isOf(this.current, connection)) close(connection)
    })
  }

  /** Rejects if the host of a new connection does not take writes; the next connection goes to the next host. */
  async require(connection: ServerConnection): Promise<void> {
    owners.set(connection, this)
    // Both are sent before anything that a caller does with the connection.
    // Where the account may not read the members, one is judged by `super_read_only` alone.
    const members = connection._isMariaDB ? [] : answered(connection, MEMBERS).catch(() => [])
    const settings = await answered(connection, LOOKS.join('; '))
    const reason = unfitBecause(settings.flat() as NodeSetting[], (await members) as GroupMember[])
    if (reason === null) return
    const { host, port } = connection.config
    const unfit = this.all.find((one) => isOf(one, connection))
    if (unfit) this.#passOver(unfit)
    throw new UnfitHost(`${host}:${port} ${reason}`)
  }

  #passOver(host: ServerHost): void {
    // Of several connections that failed together, one moves the store on.
    if (this.current === host) this.use(this.all[(this.#at + 1) % this.all.length] as ServerHost)
  }
}

function isOf({ host, port }: ServerHost, { config }: ServerConnection): boolean {
  return config.host === host && config.port === port
}

/** A host that is gone would never see the end of the connection. */
export function close(connection: ServerConnection): void {
  connection.destroy()
  connection.stream.destroy()
}

export function answered(connection: ServerConnection, sql: string): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    connection.query(sql, (error, answer) => (error ? reject(error) : resolve(answer as unknown[])))
  })
}

interface NodeSetting {
  Variable_name: string
  Value: string
}

function unfitBecause(settings: readonly NodeSetting[], members: readonly GroupMember[]): string | null {
  const values = new Map(settings.map(({ Variable_name: name, Value: value }) => [name, value]))
  const readOnly = ['read_only', 'super_read_only', 'innodb_read_only'].find(
    (name) => (values.get(name) ?? 'OFF') !== 'OFF',
  )
  if (readOnly !== undefined) return `takes no writes: ${readOnly} is on`
  const outside = outOfGroup(members)
  if (outside !== null) return outside
  const isGalera = values.get('wsrep_on') === 'ON' && (values.get('wsrep_provider') ?? 'none') !== 'none'
  if (!isGalera) return null
  const state = values.get('wsrep_local_state_comment')
  return values.get('wsrep_ready') === 'ON' && state === 'Synced' ? null : `is not Synced, but ${state}`
}

/** Fails where the account may not read the table. A server that is in no group has no rows. */
export const MEMBERS =
  "SELECT MEMBER_ID = @@server_uuid AS isOwn, MEMBER_STATE AS state, MEMBER_ROLE AS role, CONCAT(MEMBER_HOST, ':', MEMBER_PORT) AS address " +
  'FROM performance_schema.replication_group_members ORDER BY MEMBER_ID'

export interface GroupMember {
  /** 1 for the member that was asked. */
  isOwn: unknown
  state: string
  role: string
  address: string
}

const isOwn = (member: GroupMember): boolean => Number(member.isOwn) === 1

/** Why the member that was asked can't take part in its group's decisions; null if it can, or if the server is in no group. */
export function outOfGroup(members: readonly GroupMember[]): string | null {
  const own = members.find(isOwn)
  if (own && own.state !== 'ONLINE') return `is not a member that is ONLINE, but ${own.state}`
  const gone = members.filter(({ state }) => state === 'UNREACHABLE').length
  if (!own || gone * 2 < members.length) return null
  return `has no majority of its group: ${gone} of ${members.length} members are UNREACHABLE`
}

/**
 * Why migrations must not run on the member that was asked; null if they may. Members apply each other's CREATE TABLE, and
 * leave the group if their own came first: with several primaries migrations run on the member with the smallest id alone.
 * An UNREACHABLE member keeps its turn until the group has removed it: the others may still have to apply its statements.
 */
export function mustNotMigrate(members: readonly GroupMember[]): string | null {
  const own = members.find(isOwn)
  if (own?.state !== 'ONLINE') return null
  const outside = outOfGroup(members)
  if (outside !== null) return `Migrations run on a member with a majority only, and ${own.address} ${outside}`
  // With a single primary the others take no writes anyway.
  if (members.some(({ state, role }) => state === 'ONLINE' && role === 'SECONDARY')) return null
  const first = members.find(({ state }) => state === 'ONLINE' || state === 'UNREACHABLE')
  if (first === own) return null
  return `Migrations of this group run on its member ${first?.address} only, because it has several primaries`
}
