import { Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm'

@Entity({ name: 'products' })
export class Product {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 200 })
  name!: string

  /** The number of the last change, for the feed `products`; null until the change is published. */
  @Index()
  @Column({ name: 'sync_id', type: 'bigint', nullable: true })
  syncId!: string | null
}

@Entity({ name: 'orders' })
@Index(['status', 'id'])
export class Order {
  @PrimaryGeneratedColumn()
  id!: number

  @Column({ type: 'integer' })
  product!: number

  @Column({ type: 'varchar', length: 100 })
  customer!: string

  /** `ready` until the poller has made the invoice. */
  @Column({ type: 'varchar', length: 30, default: 'ready' })
  status!: string
}

@Entity({ name: 'invoices' })
export class Invoice {
  /** The order's id: an invoice that is made twice is one row. */
  @PrimaryColumn({ type: 'integer' })
  order!: number
}
