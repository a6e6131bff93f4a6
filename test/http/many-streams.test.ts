/** Streams of a group: as many as there may be, clients that go away, and clients that take their time. */
import { once } from 'node:events'
import http from 'node:http'
import { connect } from 'node:net'
import { fresh } from './support/client'
import { useStreamServer, watchedOf } from './support/stream-server'
import { eventually, inShort, listening, pause } from './support/streams'

const at = useStreamServer()

describe('many streams', () => {
  test('hear the same; one too many is refused, until another one has ended', async () => {
    const group = fresh()
    const path = `/v1/groups/${group}/stream`
    const streams = await Promise.all(Array.from({ length: 5 }, () => listening(at.server.url, path)))
    const refused = await at.server.get(path)
    expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([429, 'overloaded', '5'])
    expect(watchedOf(at.store)).toBe(1)
    await at.store.groups.appendMany([{ group }, { group }])
    for (const stream of streams) {
      await stream.until(2)
      expect(inShort(stream)).toEqual(['+0', '+1'])
    }
    streams[0]?.close()
    let next = await listening(at.server.url, path)
    for (let tries = 0; next.status === 429 && tries < 50; tries++) next = await listening(at.server.url, path)
    expect(next.status).toBe(200)
  })

  test('free everything when their clients go away, in whatever way', async () => {
    const group = fresh()
    const { hostname, port } = new URL(at.server.url)
    const sockets = Array.from({ length: 4 }, () => connect(Number(port), hostname))
    for (const socket of sockets) {
      socket.on('error', () => {})
      socket.write(`GET /v1/groups/${group}/stream HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    }
    await Promise.all(sockets.map((socket) => once(socket, 'data')))
    expect(watchedOf(at.store)).toBe(1)
    const [ended, destroyed, reset] = sockets
    ended?.resume().end()
    destroyed?.destroy()
    reset?.resetAndDestroy()
    await pause(100)
    expect(watchedOf(at.store)).toBe(1)
    sockets[3]?.destroy()
    await eventually('the last one to be freed', () => watchedOf(at.store) === 0)
  })
})

describe('a client that takes nothing', () => {
  test('is cut after a while, with little kept for it until then, and the others hear everything', async () => {
    const group = fresh()
    await at.store.groups.put(group, { capacity: 200 })
    const { hostname, port } = new URL(at.server.url)
    const lazy = connect(Number(port), hostname)
    lazy.on('error', () => {})
    lazy.pause()
    lazy.write(`GET /v1/groups/${group}/stream HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const stream = await listening(at.server.url, `/v1/groups/${group}/stream`)
    const closed = new Promise((resolve) => lazy.once('close', resolve))
    const payload = 'x'.repeat(60_000)
    for (let n = 0; n < 200; n++) await at.store.groups.append(group, { payload })
    await stream.until(200)
    expect(inShort(stream)).toEqual(Array.from({ length: 200 }, (_, n) => `+${n}`))
    stream.close()
    await eventually('the lazy one to be cut', () => watchedOf(at.store) === 0, 20_000)
    lazy.resume()
    await closed
    expect(lazy.bytesRead).toBeLessThan(12_000_000)
  })

  test('a slow one gets everything in the end', async () => {
    const group = fresh()
    await at.store.groups.put(group, { capacity: 300 })
    const payload = 'y'.repeat(60_000)
    const items = Array.from({ length: 100 }, () => ({ group, payload: payload.slice(0, 30_000) }))
    await at.store.groups.appendMany(items)
    await at.store.groups.appendMany(items)
    const seen: string[] = []
    const options = { headers: { 'Last-Event-ID': '0' } }
    await new Promise<void>((resolve, reject) => {
      const request = http.get(`${at.server.url}/v1/groups/${group}/stream`, options, async (response) => {
        let rest = ''
        response.setEncoding('utf8')
        for await (const text of response) {
          const lines = (rest + text).split('\n')
          rest = lines.pop() ?? ''
          for (const line of lines) if (line.startsWith('id: ')) seen.push(line.slice(4))
          await pause(3)
          if (seen.length >= 200) break
        }
        resolve()
      })
      request.on('error', reject)
    })
    expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => String(n)))
  })
})
