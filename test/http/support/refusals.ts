/** Shared by the tests of bad input: the faults that a refusal names, and those that every path refuses. */
import type { Client } from './client'

export const UNKNOWN = 'is not a known field'
export const NO_OBJECT = 'must be an object'

/** The same fault at each of these places of a body. */
export const faultsAt = (detail: unknown, ...pointers: string[]) => pointers.map((pointer) => ({ pointer, detail }))

/** Sends what is refused, and answers the faults that the refusal names. */
export async function faultsOf(server: Client, method: string, path: string, json?: unknown) {
  const answer = await server.request(method, path, { json })
  expect([answer.status, answer.json.code]).toEqual([400, 'invalid_input'])
  return JSON.parse(answer.text).errors
}

/** Checks that a body which is no JSON, or isn't said to be, is refused as such. */
export async function expectJsonOnly(server: Client, method: string, path: string): Promise<void> {
  const malformed = await server.request(method, path, { body: '{' })
  expect([malformed.status, malformed.json.code]).toEqual([400, 'malformed_json'])
  const typed = { body: '{}', headers: { 'Content-Type': 'text/plain' } }
  expect((await server.request(method, path, typed)).status).toBe(415)
}

/** Checks that a path has the methods of `allow` (as in the header) and no other, and says so. */
export async function expectAllowed(server: Client, path: string, allow: string): Promise<void> {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((known) => !allow.includes(known))) {
    const answer = await server.request(method, path)
    expect([answer.status, answer.json.type, answer.headers.allow]).toEqual([405, 'about:blank', allow])
  }
  expect((await server.request('OPTIONS', path)).headers.allow).toBe(allow)
}
