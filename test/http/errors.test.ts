/** One class and one table of errors for the library, REST and the client; and the page that each problem leads to. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import express from 'express'
import { createRouter, type ErrorCode, RecentnError } from '../../src'
import * as client from '../../src/client'
import { errorsHtml } from '../../src/http/output/pages'
import { ERRORS } from '../../src/shared/errors'
import { ROOT } from '../support/processes'
import { type Client, memoryStore, send, serving, startApp } from './support/client'
import { mounted } from './support/mounting'

const CODES = Object.keys(ERRORS) as ErrorCode[]

let server: Client
beforeAll(async () => {
  server = await startApp()
})

/** The target of the `type` of an answer, as a reference relative to the request. */
async function entryOf(url: string, path: string): Promise<[number, boolean]> {
  const answer = await send(url, 'GET', path, {})
  const type = new URL(String(answer.json.type), url + path)
  const page = await send(url, 'GET', type.pathname, {})
  return [page.status, page.text.includes(`id="${type.hash.slice(1)}"`) && type.hash === `#${answer.json.code}`]
}

test('the type of a problem leads to the entry of its code', async () => {
  for (const path of ['/v1/groups/g', '/v1/groups?limit=x', '/v1/groups/%ff/items']) {
    expect([path, await entryOf(server.url, path)]).toEqual([path, [200, true]])
  }
})

test('a refusal that only repeats its status is about:blank, with the phrase of the status as its title', async () => {
  for (const path of ['/nothing/here', '/v1/nothing']) {
    const { status, json } = await send(server.url, 'GET', path, {})
    expect([status, json]).toEqual([
      404,
      {
        type: 'about:blank',
        title: 'Not Found',
        status: 404,
        detail: expect.any(String),
        requestId: expect.any(String),
      },
    ])
  }
  const large = await send(server.url, 'POST', '/v1/items', { json: 'x'.repeat(2 ** 21) })
  expect(large.json).toMatchObject({ type: 'about:blank', title: 'Payload Too Large', status: 413 })
  const groups = client.createClient({ baseUrl: server.url }).groups
  const refused = groups.append('g', { payload: 'x'.repeat(2 ** 21) })
  await expect(refused).rejects.toMatchObject({ code: 'unexpected_answer', status: 413, message: large.json.detail })
})

test('below a mounted router too, without asking who may see it', async () => {
  const refusing = await mounted(await memoryStore(), { access: () => false })
  expect(await entryOf(refusing.url, '/activity/v1/groups')).toEqual([200, true])
  const app = express().use('/a', express().use('/b', createRouter(await memoryStore(), { access: 'keys' })))
  expect(await entryOf(await serving(app), '/a/b/v1/groups')).toEqual([200, true])
})

test('the page has every code, loads nothing, and is kept by its tag', async () => {
  const page = await send(server.url, 'GET', '/docs/errors', {})
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  for (const code of CODES) expect(page.text).toContain(`<section id="${code}">`)
  expect(page.text).not.toMatch(/src=|href=|style|<script/)
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  const headers = { 'If-None-Match': String(page.headers.etag) }
  expect((await send(server.url, 'GET', '/docs/errors', { headers })).status).toBe(304)
  const head = await send(server.url, 'HEAD', '/docs/errors', {})
  expect([head.status, head.text]).toEqual([200, ''])
  expect((await send(server.url, 'POST', '/docs/errors', { json: {} })).status).toBe(405)
})

test('where an app is deployed without the files of the package, the page has each code with its title', () => {
  const page = errorsHtml(join(ROOT, 'dist'))
  for (const code of CODES) {
    const { status, title } = ERRORS[code]
    expect(page).toContain(`<section id="${code}"><h2>${code}</h2>\n<p><b>${status}</b> ${title}</p></section>`)
  }
})

test('docs/errors.md has for each code its status and title, what it means and what to do, and no other code', () => {
  const [, ...entries] = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8').split('\n## ')
  const told = entries.map((entry) => entry.trim().split('\n\n'))
  const kinds = Object.entries(ERRORS).map(([code, { status, title }]) => [code, `**${status}** ${title}`])
  expect(told.map(([code, kind]) => [code, kind]).sort()).toEqual(kinds.sort())
  for (const [, , means, fix, ...more] of told) {
    expect([means, fix]).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)])
    expect(more).toEqual([])
  }
})

describe('RecentnError', () => {
  test('is one class for the library and the client', async () => {
    expect(client.RecentnError).toBe(RecentnError)
    const groups = client.createClient({ baseUrl: server.url }).groups
    const refused = await groups.recent('').catch((error: unknown) => error)
    const answered = await groups.recent('g', { limit: 0 }).catch((error: unknown) => error)
    for (const error of [refused, answered]) {
      expect(error).toBeInstanceOf(RecentnError)
      expect(error).toMatchObject({ code: 'invalid_input', status: 400 })
    }
  })

  test.each(CODES)('%s has the status that REST answers', async (code) => {
    const thrown = new RecentnError(code)
    expect(thrown.status).toBe(ERRORS[code].status)
    const throwing = await mounted(await memoryStore(), {
      access: () => {
        throw thrown
      },
      onError: () => {},
    })
    const answer = await send(throwing.url, 'GET', '/activity/v1/groups', {})
    expect([answer.status, answer.json.status, answer.json.code]).toEqual([thrown.status, thrown.status, code])
  })

  test('says when to retry in milliseconds, and REST in whole seconds that are no shorter', async () => {
    const throwing = await mounted(await memoryStore(), {
      access: () => {
        throw new RecentnError('overloaded', undefined, { retryAfterSeconds: 1.2 })
      },
    })
    expect((await throwing.get('/v1/groups')).headers['retry-after']).toBe('2')
    const called = client.createClient({ baseUrl: `${throwing.url}/activity`, retries: 0 }).groups.recent('g')
    await expect(called).rejects.toMatchObject({ code: 'overloaded', status: 429, retryAfterSeconds: 2 })
  })

  test('of a second copy of the package keeps its code, status and time', async () => {
    class Other extends Error {
      override readonly name = 'RecentnError'
      readonly code = 'overloaded'
      readonly faults = []
      readonly status = 429
      readonly retryAfterSeconds = 3
    }
    const throwing = await mounted(await memoryStore(), {
      access: () => {
        throw new Other('later')
      },
    })
    const answer = await throwing.get('/v1/groups')
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '3'])
  })
})
