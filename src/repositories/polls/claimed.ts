/** What claiming and renewing come to. */
import type { ObjectLiteral } from 'typeorm'
import type { RecentnError } from '../../errors'
import type { Claim, GivenUp, Held } from './claims'

export interface Claimed {
  claims: Claim[]
  /** Claims that ran out for the last time. */
  givenUp: GivenUp[]
  /** Rows that the table does not let be claimed. */
  refused: Refused[]
  /** Nothing may have been claimed, and the next claim looks further. */
  isMore: boolean
}

export interface Refused {
  error: RecentnError
  /** What names the row; null where it is not there any more. */
  key: ObjectLiteral | null
}

/** Claims that are in neither are locked by somebody: nobody else can take them until they are free. */
export interface Extended {
  renewed: ReadonlySet<Held>
  lost: ReadonlySet<Held>
}
