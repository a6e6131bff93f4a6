/**
 * What a store shares among the callers of its queues, and what takes its place where there is no store. The locks are those of
 * the operations.
 */
import type { Session } from '../../database/engine'
import type { Sent } from '../../shared/queue-types'
import { alone, noWaits, type Runner, type Waits } from '../runners'
import { type ReceiveRequest, receiveTogether } from './claim/claim'
import type { QueueMemory } from './memory'
import type { ClaimedMessages, SendRequest } from './rows'
import { sendAlone } from './send/send'
import { ackTogether } from './settle/ack'
import * as settle from './settle/settle'

/** What a store shares among the callers of its queues. */
export interface QueueRunners {
  sends: Runner<SendRequest, Sent[], { items: number; bytes: number }, string | number>
  receives: Runner<ReceiveRequest, ClaimedMessages | null>
  acks: Runner<settle.SettleRequest, settle.SettledReceipts>
  nacks: Runner<settle.NackRequest, settle.SettledReceipts>
  extensions: Runner<settle.ExtendRequest, settle.SettledReceipts>
  waits: Waits
}

/** In a transaction, and without a store: each call runs by itself. */
export function runnersAlone(session: Session, memory: QueueMemory): QueueRunners {
  const first = async <T>(results: Promise<readonly T[]>) => (await results)[0] as T
  return {
    sends: alone((request) => sendAlone(session, memory, request)),
    receives: alone((request) => first(receiveTogether(session, memory, [request]))),
    acks: alone((request) => first(ackTogether(session, memory, [request]))),
    nacks: alone((request) => first(settle.nackTogether(session, memory, [request]))),
    extensions: alone((request) => first(settle.extendTogether(session, memory, [request]))),
    waits: noWaits,
  }
}
