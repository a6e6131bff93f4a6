/** A user's DataSource whose `entityPrefix` or naming strategy has a say in the names of recentn's entities. */
import { DataSource, type DataSourceOptions, DefaultNamingStrategy } from 'typeorm'
import { attachStore } from '../../../src/index'
import { migrations, RecentItem, RecentRepository, type StoreSchema, schemaOf } from '../../../src/typeorm'
import { type Context, idsOf, refusal, userSource } from '../context'

/** As typeorm-naming-strategies does it. */
class SnakeCase extends DefaultNamingStrategy {
  override tableName(className: string, given: string | undefined): string {
    return given ?? snake(className)
  }
  override columnName(property: string, given: string | undefined, embedded: string[]): string {
    return snake(embedded.concat('').join('_')) + (given ?? snake(property))
  }
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/^_/, '')

class ShortColumns extends DefaultNamingStrategy {
  override columnName(property: string): string {
    return `c_${property}`
  }
}

export function describeNaming(context: Context): void {
  describe('names that the DataSource changes', () => {
    it('an entityPrefix is refused with what to do, and then all of them have the same names', async () => {
      const url = await context.emptyDatabase()
      const withPrefix = async (migrations: StoreSchema['migrations'], options: object) => {
        const { options: own } = userSource(url, [], { entities: schemaOf().entities, migrations })
        const user = await new DataSource({ ...own, ...options } as DataSourceOptions).initialize()
        context.afterwards(() => user.destroy())
        await user.runMigrations()
        return user
      }
      const refused = await refusal(attachStore(await withPrefix(migrations, { entityPrefix: 'app_' })))
      expect([refused.code, refused.message]).toEqual([
        'invalid_input',
        expect.stringMatching(/recentn_schema app_recentn_schema.*schemaOf\(\{ tablePrefix: 'app_recentn_' \}\)/),
      ])
      const capital = await withPrefix(migrations, { entityPrefix: 'App_' })
      expect((await refusal(attachStore(capital))).message).toContain("leave recentn's entities out")

      const tablePrefix = 'app_recentn_'
      const user = await withPrefix(schemaOf({ tablePrefix }).migrations, { entityPrefix: 'app_' })
      const store = await attachStore(user, { tablePrefix, sweep: false, publish: false })
      context.afterwards(() => store.close())
      await store.groups.append('g')
      await user.transaction((manager) => store.within(manager).groups.append('g'))
      await user.transaction((manager) => new RecentRepository(manager).append('g'))
      expect(idsOf(await new RecentRepository(user).recent('g'))).toEqual([2n, 1n, 0n])
      expect(await user.getRepository(RecentItem).count()).toBe(3)
      expect(await user.query('SELECT * FROM recentn_groups')).toEqual([])
    })

    it('a naming strategy that keeps given names is all right; one that changes them is refused, unless no entity is listed', async () => {
      const url = await context.emptyDatabase()
      const named = async (namingStrategy: DefaultNamingStrategy, entities = schemaOf().entities) => {
        const { options: own } = userSource(url, [], { entities, migrations })
        const user = await new DataSource({ ...own, namingStrategy } as DataSourceOptions).initialize()
        context.afterwards(() => user.destroy())
        await user.runMigrations()
        return user
      }
      const attached = async (user: DataSource) => {
        const store = await attachStore(user, { sweep: false, publish: false })
        context.afterwards(() => store.close())
        return store
      }
      const snake = await named(new SnakeCase())
      const store = await attached(snake)
      await store.groups.append('g', { member: 'ann' })
      expect(await snake.getRepository(RecentItem).findOneByOrFail({ member: 'ann' })).toMatchObject({ group: 'g' })

      const refused = await refusal(attachStore(await named(new ShortColumns())))
      expect(refused.message).toMatch(/naming strategy that calls the column \w+ of recentn_\w+ c_\w+\./)
      const without = await attached(await named(new ShortColumns(), []))
      expect((await without.groups.append('g')).id).toBe(1n)
    })
  })
}
