/** The shop's use of recentn, apart from HTTP. */
import type { Message, Store } from 'recentn'
import { Invoice, Order, Product } from './entities.js'

export interface Mail {
  to: string
  text: string
}

export class Shop {
  /** An index in memory, which follows the table of products. */
  readonly #names = new Map<string, string>()

  constructor(
    private readonly store: Store,
    private readonly deliver: (mail: Mail) => Promise<void>,
  ) {}

  /** Repeatable: every process does so at its start. */
  async setUp(): Promise<void> {
    const { policies, queues, schedules, feeds } = this.store
    await policies.put('product:', { capacity: 11, mode: 'distinct' })
    await queues.ensure('mail-dead')
    await queues.ensure('mail', { deadLetterQueue: 'mail-dead' })
    await schedules.put('nightly-report', { queue: 'mail', cron: '0 3 * * *', body: REPORT })
    await feeds.follow(Product, { feed: 'products', syncColumn: 'syncId', key: 'id', value: 'name' })
  }

  /** Works in the background until the store is closed. */
  start(): void {
    this.store.queues.work('mail', ({ body }: Message) => this.deliver(body as Mail), { concurrency: 5 })
    this.store.poll(Order, (order) => this.#makeInvoice(order), { status: 'status' })
    this.store.feeds.consume(
      'products',
      'search',
      (changes) => {
        for (const { key, value, deleted } of changes) {
          if (deleted) this.#names.delete(key)
          else this.#names.set(key, String(value))
        }
      },
      { cursor: 'memory', onExpired: () => this.#names.clear() },
    )
  }

  /** Notes who looks at the product; resolves to the last ten others who did. */
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
      await tx.queues.send('mail', { to: customer, text: `Thank you for order ${id}` } satisfies Mail)
      return id
    })
  }

  /** A change of a product clears its number, so that the feed publishes it again. */
  async putProduct(id: number, name: string): Promise<void> {
    await this.store.dataSource.getRepository(Product).save({ id, name, syncId: null })
  }

  find(text: string): number[] {
    return [...this.#names].filter(([, name]) => name.includes(text)).map(([id]) => Number(id))
  }

  async #makeInvoice({ id }: Pick<Order, 'id'>): Promise<void> {
    await this.store.dataSource.getRepository(Invoice).upsert({ order: id }, ['order'])
  }
}

const REPORT: Mail = { to: 'office@shop.example', text: 'The nightly report' }
