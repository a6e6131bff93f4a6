/** Requests that ask for as much as there is: what a server answers, and holds in memory for it, is bounded. */
import { send } from '../http/support/client'
import { expectUnharmed, startAttacked } from './support/attacked'

const MIB = 1024 * 1024
const longName = (n: number) => `${n}`.padStart(4, '0') + '"'.repeat(187)

test('many groups with many small items of long names', async () => {
  const { url, harmOf } = await startAttacked({ RECENTN_DEFAULT_CAPACITY: '10000' })
  const groups = Array.from({ length: 5 }, (_, n) => longName(n))
  for (const group of groups) {
    for (let part = 0; part < 4; part++) {
      const items = Array.from({ length: 1000 }, () => ({ group, member: longName(9) }))
      expect((await send(url, 'POST', '/v1/items', { json: { items } })).status).toBe(201)
    }
  }
  const once = groups.map((group) => `group=${encodeURIComponent(group)}`).join('&')
  const harm = await harmOf(async () => {
    const asked = Array.from({ length: 6 }, () => send(url, 'GET', `/v1/items?limit=10000&${once}`, {}))
    for (const { status, text } of await Promise.all(asked)) {
      expect(status).toBe(200)
      expect(Buffer.byteLength(text)).toBeLessThan(4.5 * MIB)
    }
    // The same groups a hundred times.
    const again = await send(url, 'GET', `/v1/items?limit=10000&${`${once}&`.repeat(20)}`, {})
    expect([400, 414, 431]).toContain(again.status)
  })
  expectUnharmed(harm)
})
