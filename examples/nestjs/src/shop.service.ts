import { Inject, Injectable, type OnModuleInit } from '@nestjs/common'
import type { Store } from 'recentn'
import { Invoice, Order, Product } from './entities.js'
import { Mailer } from './mailer.js'
import { STORE } from './recentn.module.js'

@Injectable()
export class ShopService implements OnModuleInit {
  /** An index in memory, which follows the table of products. */
  readonly #names = new Map<string, string>()

  constructor(
    @Inject(STORE) private readonly store: Store,
    @Inject(Mailer) private readonly mailer: Mailer,
  ) {}

  async onModuleInit(): Promise<void> {
    const { policies, queues, schedules, feeds } = this.store
    await policies.put('product:', { capacity: 11, mode: 'distinct' })
    await queues.ensure('mail')
    await schedules.put('nightly-report', {
      queue: 'mail',
      cron: '0 3 * * *',
      body: { to: 'office@shop.example', text: 'The nightly report' },
    })
    await feeds.follow(Product, { feed: 'products', syncColumn: 'syncId', key: 'id', value: 'name' })
    queues.work('mail', ({ body }) => this.mailer.deliver(body as { to: string; text: string }))
    this.store.poll(Order, ({ id }) => this.#makeInvoice(id), { status: 'status' })
    feeds.consume(
      'products',
      'search',
      (changes) => {
        for (const { key, value } of changes) this.#names.set(key, String(value))
      },
      { cursor: 'memory', onExpired: () => this.#names.clear() },
    )
  }

  async view(product: number, viewer: string): Promise<(string | null)[]> {
    const group = `product:${product}`
    await this.store.groups.append(group, { member: viewer })
    const { items } = await this.store.groups.recent(group, { exclude: [viewer] })
    return items.map(({ member }) => member)
  }

  /** The order and its mail, or neither. */
  async order(product: number, customer: string): Promise<number> {
    return this.store.transaction(async (tx) => {
      const { id } = await tx.manager.save(Order, { product, customer })
      await tx.queues.send('mail', { to: customer, text: `Thank you for order ${id}` })
      return id
    })
  }

  async putProduct(id: number, name: string): Promise<void> {
    await this.store.dataSource.getRepository(Product).save({ id, name, syncId: null })
  }

  find(text: string): number[] {
    return [...this.#names].filter(([, name]) => name.includes(text)).map(([id]) => Number(id))
  }

  async #makeInvoice(order: number): Promise<void> {
    await this.store.dataSource.getRepository(Invoice).upsert({ order }, ['order'])
  }
}
