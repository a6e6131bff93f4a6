/** A server over a store in memory, and a client that sends exactly what it is given and judges every answer. */

import type { RequestListener } from 'node:http'
import http from 'node:http'
import net from 'node:net'
import { toRecentnError } from '../../../src/http/output/problem'
import { createApp, messagesOf } from '../../../src/http/process/app'
import { listen } from '../../../src/http/process/listen'
import { openStore } from '../../../src/store/open'
import type { OpenOptions } from '../../../src/store/option-types'
import type { Store } from '../../../src/store/types'
import { mustBeDocumented } from './documented'

/** JSON of any shape, for tests to look into. */
export interface Loose {
  [key: string]: Loose
}

export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
  /** The body, parsed; null when it is no JSON. */
  json: Loose
}

export interface Sent {
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is, in place of `json`. */
  body?: string | Buffer
  headers?: Record<string, string>
}

export interface Client {
  url: string
  request(method: string, path: string, sent?: Sent): Promise<Answer>
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, json: unknown): Promise<Answer>
  put(path: string, json: unknown): Promise<Answer>
  /** A PUT that only creates. */
  ensure(path: string, json?: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
}

/** `mount` is where the router is, below `url`. */
export function clientOf(url: string, mount = ''): Client {
  const request = async (method: string, path: string, sent: Sent = {}) => {
    const answer = await send(url, method, mount + path, sent)
    mustBeDocumented({ method, path, ...answer })
    return answer
  }
  return clientBy(url, request)
}

/** A client whose every call goes out by this way. */
export function clientBy(url: string, request: Client['request']): Client {
  return {
    url,
    request,
    get: (path, headers) => request('GET', path, { headers }),
    post: (path, json) => request('POST', path, { json }),
    put: (path, json) => request('PUT', path, { json }),
    ensure: (path, json) => request('PUT', path, { json, headers: { 'If-None-Match': '*' } }),
    delete: (path) => request('DELETE', path),
  }
}

const agent = new http.Agent({ keepAlive: true })
const open: (() => Promise<void>)[] = []
const errors: unknown[] = []

afterAll(async () => {
  agent.destroy()
  for (const close of open.reverse()) await close()
  expect(errors).toEqual([])
})

/** One request; the path goes out as it is (fetch would normalize it). */
export function send(url: string, method: string, path: string, { json, body, headers = {} }: Sent): Promise<Answer> {
  const bytes = body ?? (json === undefined ? undefined : JSON.stringify(json))
  const typed = bytes === undefined ? headers : { 'Content-Type': 'application/json', ...headers }
  const length = bytes === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(bytes)) }
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const options = { agent, host: hostname, port, method, path, headers: { ...length, ...typed } }
    const request = http.request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const isJson = /json/.test(String(response.headers['content-type'])) && text !== ''
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : null,
        })
      })
    })
    request.on('error', reject)
    request.end(bytes)
  })
}

/** Writes bytes to the server and resolves to all it answers until it closes, or until `ms` have passed. */
export function rawExchange(url: string, bytes: string | Buffer, ms = 20_000): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), hostname)
    let text = ''
    const timer = setTimeout(() => socket.destroy(), ms)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(text)
    })
    socket.write(bytes)
  })
}

/** Serves an app until the test file ends; `messages` as the process gives them. */
export async function serving(app: RequestListener, messages = {}): Promise<string> {
  const server = await listen(app, '127.0.0.1', 0, messages)
  open.push(server.stop)
  return server.url
}

/** A store in memory until the test file ends. */
export async function memoryStore(options: Omit<OpenOptions, 'url'> = {}): Promise<Store> {
  const store = await openStore({ url: 'sqlite::memory:', sweep: false, ...options })
  open.push(() => store.close())
  return store
}

/** The process's app over a store in memory; what goes wrong inside is a failure of the test. */
export async function startApp(
  options: { allowAnonymous?: boolean; bodyLimitBytes?: number } = {},
): Promise<Client & { store: Store }> {
  const store = await memoryStore()
  const onError = (error: unknown) => {
    if (toRecentnError(error).status === 500) errors.push(error)
  }
  const app = createApp(store, { allowAnonymous: false, ...options, onError })
  return { ...clientOf(await serving(app, messagesOf(app))), store }
}

let made = 0

/** A name that no other test uses. */
export function fresh(kind = 'group'): string {
  made++
  return `${kind}-${made}`
}

/** The items of a group that nothing may ever be stored in. */
export const UNTOUCHED_ITEMS = '/v1/groups/untouched/items'

/** Checks after each test of the file that nothing of what it sent was stored. */
export function expectUntouched(server: () => Client): void {
  afterEach(async () => {
    expect((await server().get(UNTOUCHED_ITEMS)).json.totalAppended).toBe('0')
  })
}
