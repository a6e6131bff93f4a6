import { Column, Entity, PrimaryColumn } from 'typeorm'
import { asNumber } from './bigint'

/** One row: the version of the tables. Each migration writes it, whether recentn or the user's DataSource runs it. */
@Entity({ name: 'recentn_schema', synchronize: false })
export class RecentnSchema {
  /** Always 1. */
  @PrimaryColumn({ type: 'integer', transformer: asNumber })
  id!: number

  @Column({ type: 'integer', transformer: asNumber })
  version!: number
}
