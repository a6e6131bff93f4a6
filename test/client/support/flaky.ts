/**
 * A server in front of a real one. It passes each request on, cuts the connection before or after the real one has done
 * it, or answers itself, as the test has asked. The sockets are real.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** `before`: the request does not arrive. `after`: it is done, and the answer is lost. `silent`: no answer comes. */
export type Deed = 'pass' | 'before' | 'after' | 'half' | 'silent' | Answer

export interface Answer {
  status: number
  code?: string
  retryAfter?: string
}

const open: (() => void)[] = []

afterAll(() => {
  for (const close of open) close()
})

export interface Flaky {
  url: string
  /** The requests that came, as `METHOD target`. */
  came: string[]
  /** The fate of the next requests; further ones are passed on. */
  will(...deeds: Deed[]): void
}

export async function flakyBefore(target: () => string): Promise<Flaky> {
  const came: string[] = []
  let deeds: Deed[] = []
  const server = http.createServer((request, response) => {
    came.push(`${request.method} ${request.url}`)
    const deed = deeds.shift() ?? 'pass'
    if (deed === 'before') request.socket.destroy()
    else if (typeof deed === 'object') answer(response, deed)
    else if (deed !== 'silent') pass(target(), request, response, deed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const will = (...next: Deed[]) => {
    deeds = next
    came.length = 0
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came, will }
}

function answer(response: http.ServerResponse, { status, code, retryAfter }: Answer): void {
  if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter)
  if (code === undefined) {
    response.writeHead(status, { 'Content-Type': 'text/html' }).end('<h1>a proxy</h1>')
    return
  }
  const problem = { type: `/docs/errors#${code}`, title: code, status, detail: code, code }
  response.writeHead(status, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(problem))
}

function pass(target: string, from: http.IncomingMessage, to: http.ServerResponse, deed: 'pass' | 'after' | 'half') {
  const { hostname, port } = new URL(target)
  const headers = { ...from.headers, host: `${hostname}:${port}` }
  const options = { hostname, port, method: from.method, path: from.url, headers }
  const request = http.request(options, (answered) => {
    if (deed === 'after') {
      answered.resume().on('end', () => from.socket.destroy())
      return
    }
    to.writeHead(answered.statusCode ?? 500, answered.headers)
    if (deed === 'half') answered.once('data', (chunk) => to.write(chunk.subarray(0, 5), () => from.socket.destroy()))
    else answered.pipe(to)
    answered.on('error', () => to.destroy())
  })
  request.on('error', () => from.socket.destroy())
  to.on('close', () => request.destroy())
  from.pipe(request)
}
