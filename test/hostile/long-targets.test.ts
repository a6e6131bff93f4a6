/** Targets that take long to look at. */
import { rawExchange } from '../http/support/client'
import { expectUnharmed, startAttacked } from './support/attacked'

test.each(['/livez', '/readyz', '/v1/groups', '/v1/items', '/openapi.json', '/none'])(
  '%s with 100,000 parameters that cannot be decoded, ten times',
  async (path) => {
    const attacked = await startAttacked()
    const request = `GET ${path}?${'%&'.repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    const answers: string[] = []
    const harm = await attacked.harmOf(async () => {
      for (let i = 0; i < 10; i++) answers.push(await rawExchange(attacked.url, request, 10_000))
    })
    expectUnharmed(harm)
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 414 .*\r\n[\s\S]*"type":"about:blank"/)
  },
)
