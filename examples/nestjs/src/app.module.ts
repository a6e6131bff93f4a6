import { Module } from '@nestjs/common'
import { TypeOrmModule } from '@nestjs/typeorm'
import { entities, migrations } from 'recentn/typeorm'
import { Invoice, Order, Product } from './entities.js'
import { Mailer } from './mailer.js'
import { RecentnModule } from './recentn.module.js'
import { ShopController } from './shop.controller.js'
import { ShopService } from './shop.service.js'

@Module({
  imports: [RecentnModule],
  controllers: [ShopController],
  providers: [ShopService, Mailer],
  exports: [ShopService],
})
export class ShopModule {}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'better-sqlite3',
      database: process.env.DATABASE ?? './shop.db',
      enableWAL: true,
      entities: [Product, Order, Invoice, ...entities],
      synchronize: true, // the shop's tables; in production by your own migrations
      migrations, // recentn's tables
      migrationsRun: true,
    }),
    ShopModule,
  ],
})
export class AppModule {}
