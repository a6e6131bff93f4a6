/** Sending the requests of many callers in one transaction, with a mark that tells whether it arrived. */
import type { Session } from '../../database/engine'
import { RecentnError } from '../../errors'
import { hasArrived, leaveMark, type Writer } from '../writers'
import { type OnReady, type SendRequest, sendAll } from './send'
import type { Sent } from './types'

/** An outcome for each request. Of a writer one batch runs at a time. */
export function sendBatch(
  session: Session,
  requests: readonly SendRequest[],
  onReady: OnReady,
  { writer, retryMs }: { writer: Writer; retryMs?: number },
): Promise<(Sent[] | RecentnError)[]> {
  writer.next()
  return session.write(
    async (tx) => {
      const outcomes = await sendAll(tx, requests, onReady)
      await leaveMark(tx, writer)
      return outcomes
    },
    { arrived: (tx) => hasArrived(tx, writer), retryMs },
  )
}

/** One request, by itself. */
export async function sendAlone(session: Session, request: SendRequest, onReady: OnReady): Promise<Sent[]> {
  const [outcome] = await session.write((tx) => sendAll(tx, [request], onReady))
  if (outcome instanceof RecentnError) throw outcome
  return outcome as Sent[]
}
