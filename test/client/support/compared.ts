/** For the compiler, by `document.test.ts`: the names of what differs between the client's types and those of a document. */
import type { CallOptions, Client } from '../../../src/client'
import type { Answers, Bodies } from '../../../src/client/schemas'

/** `readonly` is not compared: a body takes constant lists. */
type Open<T> = T extends Date
  ? T
  : T extends readonly (infer Each)[]
    ? Open<Each>[]
    : T extends object
      ? { -readonly [Name in keyof T]: Open<T[Name]> }
      : T
/** Nor whether something may be left out, or be null. */
type Whole<T> = T extends Date
  ? T
  : T extends readonly (infer Each)[]
    ? Whole<Each>[]
    : T extends object
      ? { -readonly [Name in keyof T]-?: Whole<NonNullable<T[Name]>> }
      : T
/** The document does not say that `deleted` decides what a value is. */
type Answered = Omit<Answers, 'Changes'> & {
  Changes: Omit<Answers['Changes'], 'changes'> & {
    changes: Pick<Answers['Changes']['changes'][number], 'syncId' | 'key' | 'version' | 'value' | 'deleted'>[]
  }
}

type Options<Call extends (...given: never[]) => unknown, At extends number> = Omit<
  NonNullable<Parameters<Call>[At]>,
  Exclude<keyof CallOptions, 'waitSeconds'>
>
interface Queries {
  getOverview: Options<Client['overview'], 0>
  queueErrors: Options<Client['queues']['errors'], 1>
  queueHistory: Options<Client['queues']['history'], 1>
  recentItems: Options<Client['groups']['recent'], 1>
  recentItemsOfMany: Options<Client['groups']['recentMany'], 1> & { group: readonly string[] }
  memberItems: Options<Client['groups']['memberItems'], 1>
  eraseMember: Options<Client['groups']['eraseMember'], 1>
  streamGroup: Pick<NonNullable<Parameters<Client['groups']['watch']>[1]>, 'after'>
  listGroups: Options<Client['groups']['list'], 0>
  listPolicies: Options<Client['policies']['list'], 0>
  listQueues: Options<Client['queues']['list'], 0>
  listSchedules: Options<Client['schedules']['list'], 0>
  listFeeds: Options<Client['feeds']['list'], 0>
  peekMessages: Options<Client['queues']['peek'], 1>
  getChanges: Options<Client['feeds']['changes'], 1>
}

type Fits<A, B> = [A, Whole<A>, Whole<B>] extends [B, Whole<B>, Whole<A>] ? true : false
/** The names of which `From` does not fit `To`, or has other members. */
type Differing<From, To> = {
  [Name in keyof From | keyof To]: Name extends keyof From & keyof To
    ? Fits<Open<From[Name]>, Open<To[Name]>> extends true
      ? never
      : Name
    : Name
}[keyof From | keyof To]

/** An answer has the client's type. The client takes the bodies that can be sent, and no others. */
export type Difference<Document extends { Answers: object; Bodies: object; Queries: object }> =
  | Differing<Document['Answers'], Answered>
  | Differing<Bodies, Document['Bodies']>
  | Differing<Queries, Document['Queries']>
