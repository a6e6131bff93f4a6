/** Bodies that write to feeds, publish again and move consumers. Null counts as left out, except as the value of an entry. */
import { IsBatch, IsBody, IsCursor, IsFlag, IsName, IsPrefix } from './decorators'

export class ValueDto {
  /** A `JsonText`, unless it is no valid value. */
  @IsBody()
  value!: unknown
}

export class NewEntryDto extends ValueDto {
  @IsName()
  key!: string
}

export class EntriesDto {
  @IsBatch()
  entries!: unknown[]
}

/** Exactly one of the two. */
export class RepublishDto {
  @IsBatch({ optional: true })
  keys?: string[] | null

  @IsPrefix()
  prefix?: string | null
}

export class CursorDto {
  @IsCursor()
  cursor!: string

  @IsFlag()
  force?: boolean | null
}
