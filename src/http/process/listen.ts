/** An HTTP server around an app: its limits, what it says to a client that speaks no HTTP, and its orderly end. */
import http, { type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type ErrorCode, RecentnError } from '../../errors'
import { problemText } from '../output/problem'
import { SECURITY_HEADERS } from './headers'

/** Room for the longest query there is: 100 names of 191 characters, percent-encoded. */
const MAX_HEADER_BYTES = 256 * 1024

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
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 20_000,
    requestTimeout: 120_000,
    // Longer than what load balancers keep a connection for, so that it is they who close it.
    keepAliveTimeout: 75_000,
    // The app answers with a problem where Node would give an empty 400.
    requireHostHeader: false,
  })
  const connections = new Map<Socket, Set<ServerResponse>>()
  server.on('connection', (socket) => {
    connections.set(socket, new Set())
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    connections.get(socket)?.add(response)
    response.once('close', () => connections.get(socket)?.delete(response))
  })
  server.on('request', app)
  server.on('clientError', refuse)
  await start(server, host, port)
  return {
    url: urlOf(server.address() as AddressInfo),
    drain: () => {
      server.prependListener('request', ({ socket }, response) => makeLast(socket, response))
    },
    stop: () => stop(server, connections),
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

function stop(server: http.Server, connections: ReadonlyMap<Socket, ReadonlySet<ServerResponse>>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    for (const [socket, running] of connections) {
      for (const response of running) makeLast(socket, response)
      // Idle, or with half a head of a request: nothing was accepted here.
      if (running.size === 0) socket.destroy()
    }
    // One may still arrive on a connection that is kept open by another.
    server.prependListener('request', ({ socket }, response) => makeLast(socket, response))
  })
}

/** Ends the connection with this answer. */
function makeLast(socket: Socket, response: ServerResponse): void {
  if (response.headersSent) response.once('close', () => socket.destroySoon())
  else response.setHeader('Connection', 'close')
}

const STATUS_LINES: Record<string, [string, ErrorCode]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'invalid_input'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'invalid_input'],
}

const HEADER_LINES = Object.entries(SECURITY_HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

/** Answers what is no HTTP request, or one whose head is too long, and closes the connection. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [line, code] = STATUS_LINES[error.code ?? ''] ?? ['400 Bad Request', 'invalid_input']
  const problem = JSON.parse(problemText(new RecentnError(code, line.slice(4))))
  const body = JSON.stringify({ ...problem, status: Number(line.slice(0, 3)) })
  socket.end(
    `HTTP/1.1 ${line}\r\n${HEADER_LINES}Content-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
}
