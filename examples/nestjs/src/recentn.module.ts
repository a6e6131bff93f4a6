import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common'
import { attachStore, type Store } from 'recentn'
import { DataSource } from 'typeorm'

export const STORE = Symbol('recentn')

/** The store on the app's own DataSource, for all modules. */
@Global()
@Module({
  providers: [{ provide: STORE, inject: [DataSource], useFactory: (source: DataSource) => attachStore(source) }],
  exports: [STORE],
})
export class RecentnModule implements OnApplicationShutdown {
  constructor(@Inject(STORE) private readonly store: Store) {}

  onApplicationShutdown(): Promise<void> {
    return this.store.close() // workers finish first
  }
}
