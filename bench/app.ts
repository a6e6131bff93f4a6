/**
 * A small Express 5 app around a peer's ring, as one would write it: `node app.js ENGINE CONTENDER`, with the servers'
 * addresses in BENCH_URLS. Routes and bodies are recentn's; what it answers is what a page needs. Says where it
 * listens, and ends on SIGTERM.
 */
import type { AddressInfo } from 'node:net'
import express from 'express'
import { contenderNamed } from './peers'
import type { EngineName, NewItem, Urls } from './types'

async function serve(engine: EngineName, name: string, urls: Urls): Promise<void> {
  const ring = await contenderNamed(engine, name).open({ urls, purpose: 'history', fresh: false })
  const app = express()
  let underWay = 0
  const counted = <T>(work: Promise<T>): Promise<T> => {
    underWay++
    return work.finally(() => underWay--)
  }
  app.use(express.json())
  app.post('/v1/groups/:group/items', async (request, response) => {
    const item = request.body as NewItem
    const order = await counted(ring.append(request.params.group, item))
    if (order < 0) response.status(503).json({ error: 'refused' })
    else response.status(201).json({ group: request.params.group, ...item })
  })
  app.get('/v1/groups/:group/items', async (request, response) => {
    response.json({ group: request.params.group, items: await counted(ring.recent(request.params.group)) })
  })
  app.post('/v1/items', async (request, response) => {
    const { items } = request.body as { items: (NewItem & { group: string })[] }
    if (ring.appendMany === null) throw new Error(`${name} has no way to append many`)
    await counted(ring.appendMany(items))
    response.status(201).json({ items: items.map(({ group }) => ({ group })) })
  })
  const server = app.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
  })
  // As recentn's server has it: with Node's 5 seconds a busy machine closes a connection while the next request is sent.
  server.keepAliveTimeout = 75_000
  process.on('SIGTERM', async () => {
    server.close()
    // A client that is gone leaves requests behind: its appends are looked at next, and what still reads would fail, and
    // have Express print it, on a ring that is closed. What the sockets hold is read before the first look.
    do {
      await new Promise((resolve) => setTimeout(resolve, 10))
    } while (underWay > 0)
    await ring.close()
    process.exit(0)
  })
}

const [engine, name] = process.argv.slice(2)
void serve(engine as EngineName, name as string, JSON.parse(process.env.BENCH_URLS as string) as Urls)
