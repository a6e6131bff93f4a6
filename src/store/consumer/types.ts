/** The public shapes of the loops of consumers. */

import type { Change, ValueOptions } from '../../shared/feed-types'
import type { ConsumeContext, ConsumeHandlingOptions } from '../../shared/handling-shapes'
import type { Form } from '../../shared/types'

export type { ConsumeContext }

/** Gets 1 to `limit` changes, in the order of their sync ids. Resolving stores the cursor; throwing repeats the call after a backoff. */
export type ConsumeHandler<Value = unknown> = (
  changes: Change<Value>[],
  context: ConsumeContext,
) => Promise<unknown> | unknown

export interface ConsumeOptions<Value = unknown, Asked extends Form = Form>
  extends ValueOptions<Asked>,
    ConsumeHandlingOptions<Value, Change> {
  /**
   * Where the cursor is kept; default `stored`. With `memory` each start reads the feed from its beginning and then goes on,
   * and the database keeps no consumer: for an index in memory, which each process builds for itself.
   */
  cursor?: 'stored' | 'memory' | undefined
}
