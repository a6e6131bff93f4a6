/**
 * "The last ten readers of this article", on each article's page, in an Express app.
 *
 * A policy makes every group `article:…` keep distinct members: a reader who comes back moves to the front and pushes
 * no other out. It keeps eleven, so that ten are left when the page leaves out the reader who is looking at it. The list is an
 * extra: an article waits a fifth of a second for it and then goes out without, and the view is noted after the page
 * has been sent. So the article is there when recentn's database is slow, or away.
 */
import { setTimeout as after } from 'node:timers/promises'
import express, { type Express, type Request } from 'express'
import { openStore, type Recent, type Store } from 'recentn'

const SHOWN = 10
const PATIENCE_MS = 200
const THIRTY_DAYS = 30 * 24 * 60 * 60

/** In place of your own table. */
const ARTICLES = new Map([
  ['41', { title: 'Why <b> is not bold', text: 'Markup that is data is shown as it is written.' }],
  ['42', { title: 'Rings', text: 'The newest goes where the oldest was.' }],
])

/** `report` hears what was not noted or not shown. */
export async function createViewersApp(
  store: Store,
  report: (error: unknown) => void = console.error,
): Promise<Express> {
  await store.policies.put('article:', { capacity: SHOWN + 1, mode: 'distinct', ttlSeconds: THIRTY_DAYS })
  const app = express()
  app.get('/articles/:article', async (request, response) => {
    const article = ARTICLES.get(request.params.article)
    if (!article) return void response.status(404).send(page('No such article', ''))
    const group = `article:${request.params.article}`
    const reader = readerOf(request)
    const exclude = reader === null ? [] : [reader]
    let others: Recent | undefined
    try {
      others = await inTime(store.groups.recent(group, { limit: SHOWN, exclude }))
    } catch (error) {
      report(error)
    }
    response.send(page(article.title, `<p>${escaped(article.text)}</p>${others ? alsoReadBy(others) : ''}`))
    if (reader !== null) store.groups.append(group, { member: reader }).catch(report)
  })
  return app
}

/** In place of your own login. */
function readerOf(request: Request): string | null {
  return request.get('X-User') ?? null
}

/** The result of the promise, or undefined when that takes longer than a page should wait. */
function inTime<T>(promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, after(PATIENCE_MS, undefined, { ref: false })])
}

function alsoReadBy({ items, totalAppended }: Recent): string {
  const names = items.map((item) => `<li>${escaped(String(item.member))}</li>`).join('')
  return `<h2>Also read by</h2><ol>${names}</ol><p>${totalAppended} views before this one</p>`
}

function page(title: string, content: string): string {
  const text = escaped(title)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${text}</title><h1>${text}</h1>${content}</html>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}

export async function main(url = process.env.DATABASE_URL ?? 'sqlite:./data/viewers.db'): Promise<void> {
  const store = await openStore({ url })
  const app = await createViewersApp(store)
  const server = app.listen(8080, '127.0.0.1', () => console.log('http://127.0.0.1:8080/articles/42'))
  // The store last: what it has accepted is stored before it closes.
  process.once('SIGTERM', () => {
    server.close(() => store.close())
    setTimeout(() => server.closeAllConnections(), 3000).unref() // clients keep theirs open
  })
}

if (require.main === module) main()
