import { Column, Entity, PrimaryColumn } from 'typeorm'
import { INTEGER } from './columns'

/** One row: the version of the tables. Each migration writes it, whether recentn or the user's DataSource runs it. */
@Entity({ name: 'recentn_schema', synchronize: false })
export class RecentnSchema {
  /** Always 1. */
  @PrimaryColumn(INTEGER) id!: number
  @Column(INTEGER) version!: number
}
