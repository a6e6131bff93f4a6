/** The dashboard in the app of a user, behind the app's own login: no API key is typed, and none is asked for. */
import express, { type Request } from 'express'
import { createDashboard } from '../../src/http/dashboard'
import { RecentnError } from '../../src/shared/errors'
import { openStore } from '../../src/store/open'
import type { Store } from '../../src/store/types'
import { serving } from '../http/support/client'
import { openPage, picture } from './support/browser'

let store: Store
let url: string
beforeAll(async () => {
  store = await openStore({ url: 'sqlite::memory:' })
  await store.groups.append('article:42', { member: 'ann' })
  await store.queues.put('mail')
  await store.queues.send('mail', { to: 'bob' })
  const access = (request: Request, scope: string) => {
    const [, user] = /(?:^|; )user=(\w+)/.exec(request.headers.cookie ?? '') ?? []
    if (user === undefined) throw new RecentnError('unauthorized')
    return user === 'admin' || scope === 'read'
  }
  const app = express()
  app.get('/login/:user', (request, response) => {
    response.cookie('user', request.params.user, { httpOnly: true, sameSite: 'strict' }).send('welcome')
  })
  app.get('/favicon.ico', (_request, response) => void response.status(204).end())
  app.use('/admin/recentn', createDashboard(store, { access }))
  url = await serving(app)
})
afterAll(() => store.close())

test('the session of the app is all it needs, below the path where it is mounted', async () => {
  const page = await openPage(`${url}/admin/recentn#/queues/mail`, { expected: [401] })
  await page.getByText('You are not logged in.').waitFor()
  expect(page.url()).toBe(`${url}/admin/recentn/#/queues/mail`)
  expect(await page.getByLabel('API key').count()).toBe(0)
  expect(await page.getByText('No key').count()).toBe(0)
  await picture(page, 'mounted-logged-out')

  const login = async (user: string) => {
    const tab = await page.context().newPage()
    await tab.goto(`${url}/login/${user}`)
    await tab.close()
  }
  // The page asks again by itself, and shows what the user may see.
  await login('ann')
  await page.getByText('You may only read: changes need the scope admin.').waitFor({ timeout: 40_000 })
  expect(await page.getByRole('button', { name: 'Pause' }).isEnabled()).toBe(false)

  await login('admin')
  await page.reload()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  expect((await store.queues.get('mail'))?.paused).toBe(true)

  // A stream has the cookie too.
  await page.goto(`${url}/admin/recentn/#/groups/article%3A42`)
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  await store.groups.append('article:42', { member: 'bob' })
  await page.getByRole('link', { name: 'bob' }).waitFor()

  await page.getByRole('link', { name: 'REST reference' }).click()
  await page.getByText('/v1/groups/{group}/items').first().waitFor({ timeout: 30_000 })
  expect(page.url()).toBe(`${url}/admin/recentn/docs`)
})
