/**
 * How the tests of an app that uses recentn may look (jest here; any runner does): a fresh store in memory for each
 * test, with its real behaviour, no server and no mock.
 */
import type { Store } from 'recentn'
import { type TestStore, testStore } from 'recentn/testing'

/** The code under test: yours. */
class Logins {
  constructor(private readonly store: Store) {}

  /** Notes the address, and has a mail sent when the user was not seen there before. */
  async record(user: string, address: string): Promise<void> {
    const known = (await this.addresses(user)).includes(address)
    await this.store.groups.append(`logins:${user}`, { member: address })
    if (!known) await this.store.queues.send('mail', { to: user, about: `A login from ${address}` })
  }

  async addresses(user: string): Promise<(string | null)[]> {
    const { items } = await this.store.groups.recent(`logins:${user}`)
    return items.map((item) => item.member)
  }
}

describe('Logins', () => {
  let store: TestStore
  let logins: Logins

  beforeEach(async () => {
    store = await testStore()
    await store.policies.put('logins:', { capacity: 5, mode: 'distinct', ttlSeconds: 30 * 24 * 60 * 60 })
    await store.queues.ensure('mail')
    logins = new Logins(store)
  })
  afterEach(() => store.close())

  it('shows the newest address first, each once', async () => {
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) await logins.record('fred', address)
    expect(await logins.addresses('fred')).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  it('has one mail sent for each new address', async () => {
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) await logins.record('fred', address)
    const mails = await store.queues.receive('mail', { limit: 10 })
    expect(mails.map(({ body }) => body)).toEqual([
      { to: 'fred', about: 'A login from 192.0.2.1' },
      { to: 'fred', about: 'A login from 192.0.2.2' },
    ])
  })

  it('knows nothing of what another test has stored', async () => {
    expect(await logins.addresses('fred')).toEqual([])
  })

  it('forgets an address after 30 days, without a test that sleeps', async () => {
    await logins.record('fred', '192.0.2.1')
    await store.clock.advance('29 days')
    await logins.record('fred', '192.0.2.2')
    expect(await logins.addresses('fred')).toHaveLength(2)
    await store.clock.advance('1 day')
    expect(await logins.addresses('fred')).toEqual(['192.0.2.2'])
  })
})
