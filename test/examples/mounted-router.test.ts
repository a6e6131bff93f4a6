/** As a program: it stops while a client listens to a stream of its router, and has a connection without a request. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import { closeStreams, listening } from '../http/support/streams'
import { ROOT } from '../support/processes'
import { soonMs } from '../support/timing'

afterEach(closeStreams)

test('mounted-router stops on SIGTERM while a stream and an unused connection are open', async () => {
  const args = [
    '--require',
    resolve(ROOT, 'test/support/run-typescript.cjs'),
    resolve(ROOT, 'examples/mounted-router.ts'),
  ]
  const env = { ...process.env, DATABASE_URL: 'sqlite::memory:', PORT: '0' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  let late: NodeJS.Timeout | undefined
  try {
    const [said] = await once(child.stdout.setEncoding('utf8'), 'data')
    const url = String(said).trim().replace('/v1/groups', '')
    const stream = await listening(url, '/v1/groups/product%3A7/stream')
    expect(stream.status).toBe(200)
    const unused = connect(Number(new URL(url).port), '127.0.0.1')
    await once(unused, 'connect')
    const since = Date.now()
    child.kill('SIGTERM')
    late = setTimeout(() => child.kill('SIGKILL'), 20_000)
    expect(await closed).toEqual([0, null])
    expect(Date.now() - since).toBeLessThan(soonMs())
    await stream.ended
    unused.destroy()
  } finally {
    clearTimeout(late)
    child.kill('SIGKILL')
    await closed
  }
})
