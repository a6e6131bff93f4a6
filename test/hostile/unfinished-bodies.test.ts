/** Bodies that are never sent to their end. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { pause } from '../support/timing'
import { expectUnharmed, startAttacked } from './support/attacked'

const MIB = 1024 * 1024
const head = (framing: string) =>
  `POST /v1/groups/g/items HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`

/** The statuses that the connections were answered with. */
function answersOf(sockets: readonly Socket[]): Map<string, number> {
  const answers = new Map<string, number>()
  for (const socket of sockets) {
    socket.once('data', (data) => {
      const status = data.toString('latin1').slice(9, 12)
      answers.set(status, (answers.get(status) ?? 0) + 1)
    })
  }
  return answers
}

test('1,500 of 1 MiB, each without its last byte', async () => {
  const attacked = await startAttacked()
  const body = Buffer.alloc(MIB - 1, 0x20)
  let answers = new Map<string, number>()
  const harm = await attacked.harmOf(async () => {
    const sockets: Socket[] = []
    for (let i = 0; i < 1500; i++) sockets.push(await attacked.connection())
    answers = answersOf(sockets)
    for (const [i, socket] of sockets.entries()) {
      // As fast as a network is, and not as memory is: the machine runs the attacker too.
      if (i % 50 === 0) await pause(50)
      socket.write(head(`Content-Length: ${MIB}`))
      const isTaken = socket.write(body)
      if (!isTaken) await Promise.race([once(socket, 'drain'), once(socket, 'close'), pause(1000)])
    }
    await pause(5000)
  })
  expectUnharmed(harm)
  // Where the attack takes longer than the 15 seconds that a body may take, those that were let in are answered too.
  expect([...answers.keys()].filter((status) => status !== '408')).toEqual(['429'])
  expect(answers.get('429')).toBeGreaterThan(1000)
})

test('4 of them in chunks of one byte', async () => {
  const attacked = await startAttacked()
  const bytes = Buffer.from('1\r\n \r\n'.repeat(300_000))
  const harm = await attacked.harmOf(async () => {
    const sockets = await Promise.all(Array.from({ length: 4 }, () => attacked.connection()))
    for (const socket of sockets) {
      socket.write(head('Transfer-Encoding: chunked'))
      socket.write(bytes)
    }
    await pause(5000)
  })
  expectUnharmed(harm)
})
