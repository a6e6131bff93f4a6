/** `createDashboard`: the page and its routes in the app of a user, behind the app's own login. */
import express, { type Express, type Request } from 'express'
import { createDashboard } from '../../src/http/dashboard'
import { DASHBOARD_POLICY } from '../../src/http/page-files'
import { createRouter, type RouterOptions } from '../../src/http/router'
import { RecentnError } from '../../src/shared/errors'
import type { Store } from '../../src/store/types'
import { memoryStore, send, serving } from './support/client'

let store: Store
beforeAll(async () => {
  store = await memoryStore()
  await store.groups.append('article:1', { member: 'ann' })
  await store.queues.put('mail')
})

/** The login of the app: a cookie. */
const byCookie = (request: Request, scope: string) => {
  const { cookie = '' } = request.headers
  if (cookie === '') throw new RecentnError('unauthorized')
  return cookie === 'user=admin' || scope === 'read'
}

async function appWith(options: RouterOptions, mount: string, prepare: (app: Express) => void = () => {}) {
  const app = express()
  prepare(app)
  app.use(mount, createDashboard(store, options))
  app.use((request, response) => void response.status(418).send(request.originalUrl))
  return serving(app)
}

const ADMIN = { Cookie: 'user=admin' }

describe.each(['/', '/admin/recentn', '/a%20b/c'])('mounted at %s', (mount) => {
  const base = mount === '/' ? '' : mount
  let url: string
  beforeAll(async () => {
    url = await appWith({ access: byCookie }, mount)
  })

  test('serves the page and all that it names, relative to it', async () => {
    const page = await send(url, 'GET', `${base}/`, {})
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name as string)
    expect(named).toContain('dashboard/app.js')
    // The addresses that the script loads or links to by itself.
    for (const name of [...named, 'dashboard/chart.js', 'docs', 'docs/errors']) {
      expect(name).not.toMatch(/^\/|^\w+:/)
      expect([name, (await send(url, 'GET', `${base}/${name}`, { headers: ADMIN })).status]).toEqual([name, 200])
    }
  })

  test('serves the routes that the page asks', async () => {
    const groups = await send(url, 'GET', `${base}/v1/groups`, { headers: ADMIN })
    expect(groups.json.groups).toMatchObject([{ group: 'article:1' }])
    const access = await send(url, 'GET', `${base}/v1/access`, { headers: { Cookie: 'user=ann' } })
    expect(access.json).toEqual({ scopes: ['read'], prefix: null })
    const document = await send(url, 'GET', `${base}/openapi.json`, { headers: ADMIN })
    expect(document.json.servers).toEqual([{ url: mount }])
  })

  test('leaves other paths to the app', async () => {
    for (const path of [`${base}/other`, '/dashboards', `${base}/dashboard/`, `${base}/dashboard/index.html`]) {
      const { status, text, headers } = await send(url, 'GET', path, {})
      expect([path, status, text]).toEqual([path, 418, path])
      expect(headers['content-security-policy']).toBeUndefined()
    }
  })
})

test('without its slash the page is sent on to it, whatever a proxy has put before', async () => {
  const url = await appWith({ access: byCookie }, '/admin/recentn')
  const location = async (path: string) => {
    const { status, headers } = await send(url, 'GET', path, {})
    return [status, headers.location]
  }
  expect(await location('/admin/recentn')).toEqual([302, './recentn/'])
  expect(await location('/admin/recentn?a=b?c')).toEqual([302, './recentn/?a=b?c'])
  expect(await location('/admin/recentn/')).toEqual([200, undefined])
  expect(await location('/admin/recentn/?a=b')).toEqual([200, undefined])
  const open = await appWith({ access: byCookie }, '/:any')
  // Two slashes at the beginning would be another host.
  expect((await send(open, 'GET', '/%2Fexample.org', {})).headers.location).toBe('./%2Fexample.org/')
})

test('the files have the strict policy, whatever the app has set', async () => {
  const loose = (app: Express) =>
    void app.use((_request, response, next) => {
      response.setHeader('Content-Security-Policy', "default-src *; script-src 'unsafe-inline'")
      next()
    })
  const url = await appWith({ access: byCookie }, '/admin', loose)
  for (const path of ['/admin/', '/admin/dashboard/app.js']) {
    const { headers } = await send(url, 'GET', path, {})
    expect(headers).toMatchObject({
      'content-security-policy': DASHBOARD_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
  }
  expect((await send(url, 'GET', '/admin/v1/groups', { headers: ADMIN })).headers).toMatchObject({
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  })
})

test('the files need no login, and the data does', async () => {
  const url = await appWith({ access: byCookie }, '/admin')
  expect((await send(url, 'GET', '/admin/', {})).status).toBe(200)
  expect((await send(url, 'GET', '/admin/v1/groups', {})).json.code).toBe('unauthorized')
  expect((await send(url, 'GET', '/admin/openapi.json', {})).status).toBe(401)
  const pause = (headers: Record<string, string>) => send(url, 'POST', '/admin/v1/queues/mail/pause', { headers })
  expect((await pause({ Cookie: 'user=ann' })).json.code).toBe('forbidden')
  expect((await pause(ADMIN)).json.paused).toBe(true)
})

test('the page asks for a key where keys count, and nowhere else', async () => {
  const isAsking = async (access: RouterOptions['access']) => {
    const { text } = await send(await appWith({ access }, '/admin'), 'GET', '/admin/', {})
    expect(text).toContain('<html ')
    return !text.includes('data-keys="none"')
  }
  expect(await isAsking('keys')).toBe(true)
  expect(await isAsking(byCookie)).toBe(false)
  expect(await isAsking('anonymous')).toBe(false)
})

describe('a page of another origin', () => {
  const elsewhere: [string, Record<string, string>][] = [
    ['a cross-site form', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://example.org' }],
    ['a page of a sibling domain', { 'Sec-Fetch-Site': 'same-site' }],
    ['without TLS, where browsers do not say the site', { Origin: 'http://example.org' }],
    ['an origin that is not said', { Origin: 'null' }],
  ]
  const own = (url: string): [string, Record<string, string>][] => [
    ['the page itself', { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://whatever.example' }],
    ['the page itself, without TLS', { Origin: url }],
    ['the page behind a proxy', { Origin: 'https://shop.example', 'X-Forwarded-Host': 'shop.example, inner' }],
    ['no browser', {}],
  ]

  test.each(elsewhere)('changes nothing with the cookie of the app: %s', async (_name, headers) => {
    for (const access of [byCookie, 'anonymous'] as const) {
      const url = await appWith({ access }, '/admin')
      const sent = { headers: { ...ADMIN, ...headers } }
      for (const [method, path] of [
        ['POST', 'queues/mail/purge'],
        ['DELETE', 'groups/nothing'],
      ] as const) {
        const { status, json } = await send(url, method, `/admin/v1/${path}`, sent)
        expect([status, json.code, json.type]).toEqual([403, 'forbidden', '/admin/docs/errors#forbidden'])
      }
      // It may ask, and browsers keep the answer from it.
      expect((await send(url, 'GET', '/admin/v1/groups', sent)).status).toBe(200)
    }
  })

  test('is distinguished from the page itself and from other programs', async () => {
    const url = await appWith({ access: byCookie }, '/admin')
    for (const [name, headers] of own(url)) {
      const sent = { headers: { ...ADMIN, ...headers } }
      expect([name, (await send(url, 'POST', '/admin/v1/queues/mail/purge', sent)).status]).toEqual([name, 200])
    }
  })

  test('may use the routes with a key that it has', async () => {
    const url = await appWith({ access: 'keys' }, '/admin')
    const { key } = await store.keys.create({ label: 'l', scopes: ['admin'] })
    const headers = { 'Sec-Fetch-Site': 'cross-site', Authorization: `Bearer ${key}` }
    expect((await send(url, 'POST', '/admin/v1/queues/mail/purge', { headers })).status).toBe(200)
  })
})

test('beside a router of the same store, each with its own access', async () => {
  const url = await appWith({ access: byCookie }, '/admin', (app) => {
    app.use('/activity', createRouter(store, { access: 'anonymous' }))
  })
  expect((await send(url, 'GET', '/activity/v1/groups', {})).status).toBe(200)
  expect((await send(url, 'GET', '/admin/v1/groups', {})).status).toBe(401)
  expect((await send(url, 'GET', '/activity/', {})).status).toBe(418)
})

test('options are checked as those of the router', () => {
  const make = () => createDashboard(store, {} as RouterOptions)
  expect(make).toThrow(/access: must be 'keys', 'anonymous' or a function/)
})
