/** A test store where the account may not create databases. */
import 'reflect-metadata'
import { testStore } from 'recentn/testing'
import { DataSource } from 'typeorm'
import { describeEngine, engineUrl } from '../support/engines'

for (const engine of ['mariadb', 'mysql'] as const) {
  describeEngine(engine, 'a test store', () => {
    it('says which right it lacks', async () => {
      const url = new URL(engineUrl(engine) as string)
      const root = await new DataSource({ type: engine, url: `${url.href.replace(/\/*$/, '')}/mysql` }).initialize()
      await root.query("CREATE USER recentn_plain@'%' IDENTIFIED BY 'recentn_plain'")
      try {
        Object.assign(url, { username: 'recentn_plain', password: 'recentn_plain', pathname: '/my_app' })
        await expect(testStore({ url: url.href })).rejects.toMatchObject({
          code: 'database_refused',
          message: expect.stringContaining('GRANT ALL ON `my\\_app\\_%`.* TO its user'),
        })
      } finally {
        await root.query("DROP USER recentn_plain@'%'")
        await root.destroy()
      }
    })
  })
}
