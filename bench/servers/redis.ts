/** Two private Redis servers at most: one that keeps nothing, and one that syncs its log at every write. */
import Redis from 'ioredis'
import { freePort, lastLines } from '../../test/support/servers/program'
import { messageOf } from '../../test/support/servers/server'
import type { ServerFacts } from '../types'
import { getProgram, startProgram, temporaryFolder, untilReady } from './program'

const PERSISTENCE = {
  none: ['--save', '', '--appendonly', 'no'],
  always: ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'],
}

export async function startRedis(persistence: keyof typeof PERSISTENCE): Promise<ServerFacts> {
  const wanted = { label: 'redis', main: 'redis-server', others: ['redis-tools'] }
  const program = await getProgram('redis-server', wanted, (root) => `${root}/usr/bin/redis-check-rdb`)
  // A private copy's redis-server is a link to a program that looks at the name it is called by.
  if (program.path.endsWith('redis-check-rdb')) program.path = program.path.replace(/redis-check-rdb$/, 'redis-server')
  const folder = temporaryFolder('redis')
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...PERSISTENCE[persistence]]
  const running = startProgram(program, args, folder)
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: null })
  // Each refused attempt is told by the promise as well.
  client.on('error', () => {})
  try {
    await untilReady(running, 20, async () => {
      if (client.status !== 'ready') await client.connect()
      await client.ping()
    })
    const info = await client.info('server')
    const version = /redis_version:(\S+)/.exec(info)?.[1] ?? '?'
    // One by one: Redis before 7 takes one name.
    const asked = ['appendonly', 'appendfsync', 'save'].map((name) => client.config('GET', name))
    const settings = (await Promise.all(asked)).flat()
    return {
      url: `redis://127.0.0.1:${port}`,
      version: `Redis ${version}`,
      origin: program.origin,
      durability: durabilityOf(settings as string[]),
      stop: running.stop,
    }
  } catch (error) {
    const log = lastLines(running.log)
    await running.stop()
    throw new Error(`${program.path} did not start: ${messageOf(error)} (${log})`)
  } finally {
    client.disconnect()
  }
}

function durabilityOf(pairs: string[]): string {
  const settings = new Map<string, string>()
  for (let at = 0; at + 1 < pairs.length; at += 2) settings.set(String(pairs[at]), String(pairs[at + 1]))
  if (settings.get('appendonly') !== 'yes') return `none (appendonly no, save "${settings.get('save')}")`
  return `appendonly yes, appendfsync ${settings.get('appendfsync')}`
}
