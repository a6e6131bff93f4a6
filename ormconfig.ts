/** The DataSource that TypeORM's command line and the server share: `npx typeorm -d dist/ormconfig.js migration:show`. */
import 'reflect-metadata'
import { DataSource } from 'typeorm'
import { dataSourceOptions } from './src/database/opening/connect'

export default new DataSource(
  dataSourceOptions({
    url: process.env.DATABASE_URL || 'sqlite:./data/recentn.db',
    tablePrefix: process.env.RECENTN_TABLE_PREFIX || undefined,
  }),
)
