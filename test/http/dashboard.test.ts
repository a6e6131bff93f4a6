/** The files of the dashboard: their headers, how they are kept by browsers, and where they are not. */
import { gunzipSync } from 'node:zlib'
import express from 'express'
import { DASHBOARD_POLICY } from '../../src/http/page-files'
import { createRouter } from '../../src/http/router'
import { clientOf, memoryStore, send, serving, startApp } from './support/client'

const FILES = [
  ['/', 'text/html; charset=utf-8', '<div id="app">'],
  ['/dashboard/app.js', 'text/javascript; charset=utf-8', 'sessionStorage'],
  ['/dashboard/chart.js', 'text/javascript; charset=utf-8', 'canvas'],
  ['/dashboard/app.css', 'text/css; charset=utf-8', '@media(prefers-color-scheme:dark)'],
  ['/dashboard/icon.svg', 'image/svg+xml', '<title>recentn</title>'],
] as const

describe.each(FILES)('%s', (path, type, part) => {
  test('is served with a strict policy', async () => {
    const { url } = await startApp()
    const { status, headers, text } = await send(url, 'GET', path, {})
    expect([status, headers['content-type'], text.includes(part)]).toEqual([200, type, true])
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)))
    expect(headers).toMatchObject({
      'content-security-policy': DASHBOARD_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
      vary: 'Accept-Encoding',
    })
  })

  test('is not sent again to a browser that has it', async () => {
    const { url } = await startApp()
    const { headers } = await send(url, 'GET', path, {})
    const etag = String(headers.etag)
    expect(etag).toMatch(/^"[\w-]+"$/)
    const again = await send(url, 'GET', path, { headers: { 'If-None-Match': etag } })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag])
    expect(again.headers['content-security-policy']).toBe(DASHBOARD_POLICY)
    const other = await send(url, 'GET', path, { headers: { 'If-None-Match': '"other"' } })
    expect(other.status).toBe(200)
  })

  test('is compressed where that is accepted, under another tag', async () => {
    const { url } = await startApp()
    const plain = await send(url, 'GET', path, { headers: { 'Accept-Encoding': 'gzip;q=0, br' } })
    expect(plain.headers['content-encoding']).toBeUndefined()
    const answer = await fetch(`${url}${path}`, { headers: { 'Accept-Encoding': 'br, gzip' } })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.headers.get('etag')).not.toBe(plain.headers.etag)
    expect(await answer.text()).toBe(plain.text)
  })

  test('takes GET and HEAD only', async () => {
    const { url } = await startApp()
    const head = await send(url, 'HEAD', path, {})
    expect([head.status, head.text, head.headers['content-type']]).toEqual([200, '', type])
    expect(Number(head.headers['content-length'])).toBeGreaterThan(100)
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const refused = await send(url, method, path, {})
      expect([refused.status, refused.headers.allow, refused.json.type]).toEqual([
        405,
        'GET, HEAD, OPTIONS',
        'about:blank',
      ])
    }
    expect((await send(url, 'OPTIONS', path, {})).status).toBe(204)
  })

  test('needs no key where keys are needed, and a local Host where there are none', async () => {
    const { url, store } = await startApp()
    const foreign = { headers: { Host: 'example.org' } }
    expect((await send(url, 'GET', path, foreign)).status).toBe(403)
    await store.keys.create({ label: 'l', scopes: ['read'] })
    expect((await send(url, 'GET', path, foreign)).status).toBe(200)
    expect((await send(url, 'GET', '/v1/groups', foreign)).status).toBe(401)
  })

  test('is nothing that a router in the app of a user serves', async () => {
    const app = express()
    app.use(createRouter(await memoryStore(), { access: 'anonymous' }))
    app.use((_request, response) => void response.status(418).end())
    expect((await send(await serving(app), 'GET', path, {})).status).toBe(418)
  })
})

test('what is compressed is what is not', async () => {
  const { url } = await startApp()
  const plain = await send(url, 'GET', '/dashboard/app.js', {})
  const bytes = await rawBody(`${url}/dashboard/app.js`)
  expect(gunzipSync(bytes).toString('utf8')).toBe(plain.text)
  expect(bytes.length).toBeLessThan(plain.text.length / 2)
})

test('nothing else is below /dashboard', async () => {
  const { url } = await startApp()
  for (const path of [
    '/dashboard',
    '/dashboard/',
    '/dashboard/index.html',
    '/dashboard/..%2Fpackage.json',
    '/index.html',
  ]) {
    expect([path, (await clientOf(url).get(path)).status]).toEqual([path, 404])
  }
})

test('the first load is light: less than 45 KB, compressed', async () => {
  const { url } = await startApp()
  const { text } = await send(url, 'GET', '/', {})
  const files = [...text.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)].map(([, path]) => String(path))
  expect(files).toEqual(expect.arrayContaining([expect.stringContaining('app.js'), expect.stringContaining('app.css')]))
  const loaded = await Promise.all(['', ...files].map((path) => rawBody(new URL(path, `${url}/`).href)))
  expect(loaded.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(45_000)
})

function rawBody(url: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { get } = require('node:http') as typeof import('node:http')
    get(url, { headers: { 'Accept-Encoding': 'gzip' } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks)))
    }).on('error', reject)
  })
}
