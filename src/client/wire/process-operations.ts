// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** What each operation takes and answers. */
import type { Access, Health } from './answers'

type Nothing = Record<never, never>

export interface ProcessOperations {
  /** What the caller may do: `GET /v1/access` */
  getAccess: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: Access
  }
  /** Whether the process answers: `GET /livez` */
  livez: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: Health
  }
  /** Whether the database answers too: `GET /readyz` */
  readyz: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: Health
  }
  /** What the process did and is at, for Prometheus: `GET /metrics` */
  metrics: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: string
  }
}
