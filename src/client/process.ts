/** The health and the metrics of a server of its own. */
import * as operations from './operations'
import type { Health } from './schemas'
import type { CallOptions, Transport } from './transport'

/** A router that is mounted in another app serves none of this. */
export class ProcessClient {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Resolves if the process answers. */
  livez(options?: CallOptions): Promise<Health> {
    return this.#transport.value(operations.livez, {}, options)
  }

  /** Resolves if the database answers too; throws `database_unavailable`, and `draining` if the server is stopping. */
  readyz(options?: CallOptions): Promise<Health> {
    return this.#transport.value(operations.readyz, {}, options)
  }

  /** The metrics of the process, in the format of Prometheus. */
  metrics(options?: CallOptions): Promise<string> {
    return this.#transport.value(operations.metrics, {}, options)
  }
}
