import { Column, Entity, PrimaryColumn } from 'typeorm'
import { asNumber } from './bigint'

/** One row: the version of the tables, written by each migration, whoever runs it. */
@Entity({ name: 'recentn_schema', synchronize: false })
export class RecentnSchema {
  /** Always 1. */
  @PrimaryColumn({ type: 'integer', transformer: asNumber })
  id!: number

  @Column({ type: 'integer', transformer: asNumber })
  version!: number
}
