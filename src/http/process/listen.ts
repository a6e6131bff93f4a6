/** An HTTP server around an app: its limits, its answers to clients that send no valid HTTP, and its orderly end. */
import http, { type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { RecentnError } from '../../shared/errors'
import { MAX_TARGET_LENGTH } from '../input/query'
import { StatusError } from '../output/problem'
import { targetTooLong } from '../router'
import { HttpConnections } from './connections'
import { MAX_HEADERS, METHODS } from './headers'

const MAX_HEAD_BYTES = 2 * MAX_TARGET_LENGTH

export interface Listening {
  /** Such as `http://127.0.0.1:3000`. */
  url: string
  /** Makes every answer from now on the last one of its connection, so that a load balancer sends clients elsewhere. */
  drain(): void
  /** Accepts nothing more. Resolves when every accepted request is answered and every connection is closed. */
  stop(): Promise<void>
}

/** Listens. `messages` is `messagesOf(app)`. Rejects with a sentence for people if it cannot listen. */
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
    // Longer than load balancers keep an idle connection, so that they are the ones who close it.
    keepAliveTimeout: 75_000,
    // The app answers with a problem, Node with an empty 400.
    requireHostHeader: false,
  })
  // Node drops headers over its limit without a word: it lets one more in, and the app refuses such a request.
  server.maxHeadersCount = MAX_HEADERS + 1
  const connections = new HttpConnections(server, app)
  server.on('clientError', (error: ClientError, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else connections.refuse(socket, refusalOf(error))
  })
  server.on('connect', (_request, socket: Socket) => {
    // Node no longer handles its errors.
    socket.on('error', () => {})
    connections.refuse(socket, new StatusError(405, `The server knows only ${METHODS} and OPTIONS`), {
      Allow: `${METHODS}, OPTIONS`,
    })
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

/** The refusal of input that is not an HTTP request, or whose head is too long or too slow. */
function refusalOf({ code = '', rawPacket }: ClientError): RecentnError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new StatusError(408, 'The request did not arrive in time')
  if (code !== 'HPE_HEADER_OVERFLOW') return new RecentnError('invalid_input', 'This is not a well-formed HTTP request')
  return isLongTarget(rawPacket) ? targetTooLong() : new StatusError(431, 'The headers are too long')
}

/** Whether it is the first line that is too long. */
function isLongTarget(bytes: Buffer | undefined): boolean {
  const end = bytes?.indexOf('\n') ?? 0
  return end < 0 || end > MAX_TARGET_LENGTH
}
