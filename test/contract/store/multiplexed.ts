import { attachStore, openStore } from '../../../src/index'
import { run } from '../../cli/support'
import { CuttingProxy } from '../../support/cutting-proxy'
import { MultiplexingProxy } from '../../support/multiplexing-proxy'
import { type Context, refusal, userSource } from '../context'

/** Proxies that give the statements of one connection to several sessions of the server. */
export function describeMultiplexed(context: Context): void {
  if (context.engine === 'sqlite') return

  const multiplexed = async (from?: RegExp) => {
    const proxy = await MultiplexingProxy.before(context.url, from)
    context.afterwards(() => proxy.close())
    return proxy.url
  }
  const SEVERAL = /statements of one connection reach several sessions \(CONNECTION_ID\(\) \d+,\d+\).*proxy/

  describe('a proxy that shares connections', () => {
    it('is refused by a store, and named by doctor', async () => {
      const url = await multiplexed()
      const error = await refusal(openStore({ url }))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringMatching(SEVERAL)])
      const { code, stdout } = await run(['doctor', '--database-url', url])
      expect([code, stdout]).toEqual([1, expect.stringMatching(/^WRONG +connection +The statements of one/)])
    })

    it('is refused by a store on a DataSource', async () => {
      const source = userSource(await multiplexed(/CONNECTION_ID/))
      await source.initialize()
      context.afterwards(() => source.destroy())
      const error = await refusal(attachStore(source))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringMatching(SEVERAL)])
    })

    it('only later is named by doctor', async () => {
      const url = await multiplexed(/SHOW GLOBAL VARIABLES/)
      const { code, stdout } = await run(['doctor', '--database-url', url])
      expect([code, stdout]).toEqual([1, expect.stringMatching(/WRONG +sessions +The statements of one/)])
    })

    it('but not the sessions, and changes their settings, is refused', async () => {
      const proxy = await CuttingProxy.before(context.url)
      context.afterwards(() => proxy.close())
      proxy.rewrite("time_zone = '+00:00'", "time_zone = '+01:00'")
      const error = await refusal(openStore({ url: proxy.through(context.url) }))
      expect([error.code, error.message]).toEqual([
        'database_refused',
        expect.stringMatching(/does not keep its settings \(time_zone is \+01:00, not \+00:00\)/),
      ])
    })
  })

  it('a server without a proxy has a session for each connection', async () => {
    const { stdout } = await run(['doctor', '--database-url', context.url])
    expect(stdout).toMatch(/ok +sessions +each connection has its own/)
  })
}
