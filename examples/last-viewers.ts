/**
 * "The last ten readers of this article", as a part of each article's page, in an Express app.
 *
 * A policy makes every group `article:…` keep distinct members: who comes back moves to the front and pushes nobody
 * out. It keeps eleven, so that ten are left when the page leaves out the reader who is looking at it.
 */
import express, { type Express, type Request } from 'express'
import { openStore, type Store } from '../src' // 'recentn' in a project of your own

const SHOWN = 10
const THIRTY_DAYS = 30 * 24 * 60 * 60

export async function createViewersApp(store: Store): Promise<Express> {
  await store.groups.putPolicy('article:', { capacity: SHOWN + 1, mode: 'distinct', ttlSeconds: THIRTY_DAYS })
  const app = express()
  app.get('/articles/:article', async (request, response) => {
    const group = `article:${request.params.article}`
    const reader = readerOf(request)
    if (reader !== null) await store.groups.append(group, { member: reader })
    const { items, total } = await store.groups.recent(group, {
      limit: SHOWN,
      exclude: reader === null ? [] : [reader],
    })
    const names = items.map((item) => `<li>${escaped(String(item.member))}</li>`).join('')
    response.send(`<h1>Article</h1><p>${total} views. Also read by:</p><ol>${names}</ol>`)
  })
  return app
}

/** Stands for your own login. */
function readerOf(request: Request): string | null {
  return request.get('X-User') ?? null
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

export async function main(url = process.env.DATABASE_URL ?? 'sqlite:./data/viewers.db'): Promise<void> {
  const store = await openStore({ url })
  const app = await createViewersApp(store)
  const server = app.listen(8080, '127.0.0.1', () => console.log('http://127.0.0.1:8080/articles/42'))
  process.once('SIGTERM', () => server.close(() => store.close()))
}

if (require.main === module) main()
