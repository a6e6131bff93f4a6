import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { createDashboard, createRouter, type Store } from 'recentn'
import { AppModule } from './app.module.js'
import { STORE } from './recentn.module.js'

const app = await NestFactory.create(AppModule)
const store = app.get<Store>(STORE)
// Create a key for yourself: npx recentn keys create
app.use('/activity', createRouter(store, { access: 'keys' }))
app.use('/dashboard', createDashboard(store, { access: 'keys' }))
app.enableShutdownHooks()
await app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1')
console.log(`the shop is at ${await app.getUrl()}`)
