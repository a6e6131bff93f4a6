/** An HTTP server around an app: its limits, what it says to a client that speaks no HTTP, and its orderly end. */
import http, { type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type ErrorCode, RecentnError } from '../../errors'
import { MAX_TARGET_LENGTH } from '../input/query'
import { Connections } from './connections'
import { MAX_HEADERS } from './head'
import { METHODS } from './headers'

/** Room for the longest target, and as much again. */
const MAX_HEAD_BYTES = 2 * MAX_TARGET_LENGTH

export interface Listening {
  /** Such as `http://127.0.0.1:3000`. */
  url: string
  /** From now on each answer is the last one of its connection: who is balanced by connections goes elsewhere. */
  drain(): void
  /** Accepts nothing more; resolves when every accepted request is answered and every connection closed. */
  stop(): Promise<void>
}

/** Listens; `messages` as `messagesOf(app)` gives them. Rejects with a sentence for people when it can't. */
export async function listen(
  app: RequestListener,
  host: string,
  port: number,
  messages: Pick<http.ServerOptions, 'IncomingMessage' | 'ServerResponse'> = {},
): Promise<Listening> {
  const server = http.createServer({
    ...messages,
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: 20_000,
    requestTimeout: 120_000,
    connectionsCheckingInterval: 5_000,
    // Longer than what load balancers keep a connection for, so that it is they who close it.
    keepAliveTimeout: 75_000,
    // The app answers with a problem where Node would give an empty 400.
    requireHostHeader: false,
  })
  // Node drops what is over its limit: one more is let in, and the app refuses the request that has it.
  server.maxHeadersCount = MAX_HEADERS + 1
  const connections = new Connections(server, app)
  server.on('clientError', (error: ClientError, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else connections.refuse(socket, refusalOf(error))
  })
  server.on('connect', (_request, socket: Socket) => {
    // Node has let go of it.
    socket.on('error', () => {})
    connections.refuse(socket, new RecentnError('method_not_allowed'), { Allow: `${METHODS}, OPTIONS` })
  })
  await start(server, host, port)
  return {
    url: urlOf(server.address() as AddressInfo),
    drain: () => connections.drain(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        connections.end()
      }),
  }
}

function start(server: http.Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new Error(reasonOf(error, host, port))))
    server.listen(port, host, resolve)
  })
}

function reasonOf(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is in use: stop what uses it, or set PORT to another one (0 takes any free one)`
    case 'EACCES':
      return `port ${port} of ${host} needs a privilege that this user doesn't have: set PORT to one above 1023`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST ${host} is not an address of this machine`
    default:
      return `can't listen on port ${port} of ${host}: ${error.message}`
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer }

const REFUSALS: Readonly<Record<string, [code: ErrorCode, detail?: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout'],
}

/** What is said of what is no HTTP request, or one whose head is too long or too slow. */
function refusalOf({ code = '', rawPacket }: ClientError): RecentnError {
  if (code === 'HPE_HEADER_OVERFLOW' && isLongTarget(rawPacket)) return new RecentnError('target_too_long')
  const [refusal, detail] = REFUSALS[code] ?? ['invalid_input', 'This is not a well-formed HTTP request']
  return new RecentnError(refusal, detail)
}

/** Whether the first line of what has come is what is too long. */
function isLongTarget(bytes: Buffer | undefined): boolean {
  const end = bytes?.indexOf('\n') ?? 0
  return end < 0 || end > MAX_TARGET_LENGTH
}
