/** As many connections as a process may have, which ask for nothing, or never come to the end of what they ask. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { send } from '../http/support/client'
import { eventually } from '../http/support/streams'
import { type Attacked, expectUnharmed, startAttacked } from './support/attacked'

const WANTED = 10_000
const AT_ONCE = 50

/** Of both processes: each has one end of every connection. */
function mostOpenFiles(): number {
  try {
    const [, most] = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return Number(most ?? 1024)
  } catch {
    return WANTED * 2
  }
}

async function connections(attacked: Attacked, count: number, text: string): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const more = await Promise.all(Array.from({ length: AT_ONCE }, () => attacked.connection()))
    for (const socket of more) {
      socket.write(text)
      sockets.push(socket)
    }
  }
  return sockets
}

/** How many files and connections the server has open; 0 where the system does not tell. */
function openFilesOf({ server }: Attacked): number {
  try {
    return readdirSync(`/proc/${server.process.pid}/fd`).length
  } catch {
    return 0
  }
}

test('10,000 connections: idle ones stay, those with half a head are cut, and none is left behind', async () => {
  const attacked = await startAttacked()
  const before = openFilesOf(attacked)
  const total = Math.min(WANTED, mostOpenFiles() - 300)
  const slowOnes = Math.floor(total / 5 / AT_ONCE) * AT_ONCE
  const idle = Math.floor((total - slowOnes) / AT_ONCE) * AT_ONCE
  const request = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'
  let answered = 0
  let refused = 0
  const harm = await attacked.harmOf(async () => {
    const slow = await connections(attacked, slowOnes, `${request.slice(0, -2)}X: ${'x'.repeat(30_000)}`)
    let cut = 0
    for (const socket of slow) {
      socket.on('data', (data) => {
        if (data.toString('latin1').startsWith('HTTP/1.1 408 ')) refused++
      })
      socket.once('close', () => cut++)
    }
    for (const socket of await connections(attacked, idle, request)) socket.on('data', () => answered++)
    await eventually('each idle one is answered', () => answered >= idle, 60_000)
    const stored = await send(attacked.url, 'POST', '/v1/groups/g/items', { json: { member: 'm' } })
    expect(stored.status).toBe(201)
    await eventually('the others are cut', () => cut === slowOnes, 60_000)
  })
  expectUnharmed(harm)
  expect(refused).toBe(slowOnes)
  attacked.disconnect()
  await eventually('all are closed', () => openFilesOf(attacked) <= before + 10, 60_000)
})
