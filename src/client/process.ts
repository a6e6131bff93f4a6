/** What a process of its own tells of itself; a router in another app serves none of it. */
import type { CallOptions, Transport } from './transport'
import type { Health } from './wire/answers'

export class ProcessClient {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Resolves when the process answers. */
  async livez(options?: CallOptions): Promise<Health> {
    return (await this.#transport.call('livez', {}, options)).value
  }

  /** Resolves when the database answers too; throws `database_unavailable`, and `draining` when it is about to stop. */
  async readyz(options?: CallOptions): Promise<Health> {
    return (await this.#transport.call('readyz', {}, options)).value
  }

  /** What it did and is at, as Prometheus reads it. */
  async metrics(options?: CallOptions): Promise<string> {
    return (await this.#transport.call('metrics', {}, options)).value
  }
}
