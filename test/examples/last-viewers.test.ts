/** examples/last-viewers.ts by HTTP: who is shown, and that the article is there when the database is not. */
import { createViewersApp } from '../../examples/last-viewers'
import { openStore, type Store } from '../../src/index'
import { CuttingProxy } from '../support/cutting-proxy'
import { describeEngine, ENGINES, freshDatabase } from '../support/engines'
import { stopwatch } from '../support/timing'
import { serve, until } from './support'

describe.each(ENGINES)('the last viewers', (engine) => {
  describeEngine(engine, 'are', () => {
    let store: Store
    let url: string
    const undo: (() => unknown)[] = []

    beforeEach(async () => {
      const database = await freshDatabase(engine)
      store = await openStore({ url: database.url })
      const { url: address, close } = await serve(await createViewersApp(store))
      url = address
      undo.push(close, () => store.close(), database.drop)
    })
    afterEach(async () => {
      for (const step of undo.splice(0)) await step()
    })

    const look = async (user?: string, article = '42') => {
      const answer = await fetch(`${url}/articles/${article}`, {
        headers: user === undefined ? {} : { 'X-User': user },
      })
      const page = await answer.text()
      const names = [...page.matchAll(/<li>(.*?)<\/li>/g)].map(([, name]) => name)
      return { status: answer.status, page, names, views: Number(/(\d+) views/.exec(page)?.[1]) }
    }
    /** A view is noted after the page was sent. */
    const visit = async (user: string, article = '42') => {
      const before = (await look(undefined, article)).views
      const seen = await look(user, article)
      await until('the view is noted', async () => (await look(undefined, article)).views === before + 1)
      return seen
    }
    const users = (...numbers: number[]) => numbers.map((number) => `u${number}`)

    it('ten others, each once, newest first', async () => {
      expect(await visit('u0')).toMatchObject({ status: 200, names: [], views: 0 })
      for (let n = 1; n <= 12; n++) await visit(`u${n}`)
      expect((await visit('u12')).names).toEqual(users(11, 10, 9, 8, 7, 6, 5, 4, 3, 2))
      // Coming back moves to the front and pushes no viewer out.
      expect((await visit('u5')).names).toEqual(users(12, 11, 10, 9, 8, 7, 6, 4, 3, 2))
      expect(await look()).toMatchObject({ names: users(5, 12, 11, 10, 9, 8, 7, 6, 4, 3), views: 15 })
    })

    it('text, whatever they are called', async () => {
      await visit('<script>alert("1")</script>', '41')
      const { names, page } = await look('u1', '41')
      expect(names).toEqual(['&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;'])
      expect(page).toContain('<h1>Why &lt;b&gt; is not bold</h1>')
      expect(page).not.toContain('<script')
    })

    it('of articles only', async () => {
      expect((await look('u1', '7')).status).toBe(404)
      expect((await store.groups.list()).groups).toEqual([])
    })
  })
})

describeEngine('mariadb', 'an article without its database', () => {
  it('is there in a moment, without the list, and with it when the database is back', async () => {
    const database = await freshDatabase('mariadb')
    const proxy = await CuttingProxy.before(database.url)
    const store = await openStore({ url: proxy.through(database.url) })
    const faults: unknown[] = []
    const { url, close } = await serve(await createViewersApp(store, (error) => faults.push(error)))
    try {
      const read = async (user: string) => {
        const watch = stopwatch()
        const answer = await fetch(`${url}/articles/42`, { headers: { 'X-User': user } })
        return { status: answer.status, page: await answer.text(), isLate: watch.isBeyond(2000) }
      }
      await read('anna')
      await until('anna is shown', async () => (await read('fred')).page.includes('<li>anna</li>'))
      proxy.refuse()
      const away = await read('fred')
      expect(away.status).toBe(200)
      expect(away.page).toContain('The newest goes where the oldest was.')
      expect(away.page).not.toContain('Also read by')
      expect(away.isLate).toBe(false)
      await proxy.accept()
      await until('anna is shown again', async () => (await read('fred')).page.includes('<li>anna</li>'))
      await read('mary')
      await until('mary is noted', async () => (await read('fred')).page.includes('<li>mary</li>'))
    } finally {
      close()
      await store.close()
      await proxy.close()
      await database.drop()
    }
  })
})
