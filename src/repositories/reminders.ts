/**
 * Reminders: when to look at a queue or a feed. One index over all of them says what is due, so that a look costs the same
 * however many queues and feeds there are. Rows are inserted and deleted, never changed: writers do not wait for each other.
 *
 * Invariant: what becomes due has a reminder that is not later. Its transaction has written one, or relies on one that this
 * process has committed before and that lies seconds ahead. No process takes it before it is due, when the transaction has
 * ended. One that was slower after all is `late`, and looked at by this process. A process of an older version, or one
 * that ended while it was late, leaves subjects without a reminder. A round of all queues and feeds finds them, a few at each look.
 */
import type { Parameter, Reader, Statement, Tx } from '../database/engine'
import { performance } from '../shared/platform'
import { chunksOf, MAX_KEYS, writeAmong } from './chunks'

/** The purpose of a reminder, as the column `kind` has it. */
export const REMINDED = { queue: 1, feed: 2 } as const
type ReminderKind = (typeof REMINDED)[keyof typeof REMINDED]

/** How far ahead a reminder lies that a transaction may rely on: longer than transactions take. */
const RELIED_MS = 2000
/** Reminders of one round. */
const BATCH = 100
const MAX_KNOWN = 10_000

/** Where it is looked for what has no reminder: the table of the subjects, and SQL whether one (`subject.id`) has work to do. */
export interface Subjects {
  kind: ReminderKind
  table: (words: PollFacts) => string
  hasWork: (words: PollFacts) => string
  /** How many of them are looked at in one look. */
  page: number
}

interface KnownReminder {
  /** When it is due, by `performance.now`: not before `at`, and not after `until`. */
  at: number
  until: number
  /** The database's clock, which tests move. */
  now: string
}

/** A subject to look at. */
export interface DueSubject {
  id: bigint
  /** The ids of its reminders that are due. */
  reminders: bigint[]
  /** Whether it has to get a reminder of what is due next: it had one, or is late. */
  isReminded: boolean
}

/** The reminders of queues, or of feeds, as one store knows them, or one transaction. */
export class Reminders {
  readonly #known = new Map<bigint, KnownReminder>()
  readonly #late = new Set<bigint>()
  /** The last subject that was looked at for work without a reminder, and whether those after it are to be looked at again. */
  #after = 0n
  #isNextAsked = false

  constructor(
    private readonly subjects: Subjects,
    /** The store's; null for the store's own. */
    private readonly shared: Reminders | null = null,
  ) {}

  /** For a transaction of the user's, which may take long: it relies on none. */
  forTransaction(): Reminders {
    return new Reminders(this.subjects, this)
  }

  /** Has a process look at the subject in `inMs`, once the transaction has committed. */
  async remind(tx: Tx, id: bigint, inMs: number): Promise<void> {
    const { statement, committed } = this.reminder(tx, id, inMs)
    if (statement !== null) await tx.later(statement)
    tx.afterCommit(committed)
  }

  /** Reminds of the first of these times, if there is one. */
  async remindFirst(tx: Tx, id: bigint, waits: readonly number[]): Promise<void> {
    const first = waits.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
    if (waits.length > 0) await this.remind(tx, id, first)
  }

  /** The same for statements that each commit by themselves: this one has to run before them. `committed` is called after them. */
  reminder(words: PollFacts, id: bigint, inMs: number): { statement: Statement | null; committed: () => void } {
    const { now } = words
    const at = performance.now() + inMs
    const known = this.#known.get(id)
    if (known?.now === now && known.until <= at && known.at >= at - inMs + RELIED_MS) {
      return { statement: null, committed: () => this.#wereInTime(id, known) }
    }
    const statement = reminderSql(words, this.subjects.kind, id, inMs)
    const committed = () => (this.shared ?? this).#learn(id, { at, until: performance.now() + inMs, now })
    return { statement, committed }
  }

  #wereInTime(id: bigint, { at }: KnownReminder): void {
    if (at <= performance.now()) this.beLate(id)
  }

  /** It may have no reminder, and is to be looked at in the next round. */
  beLate(id: bigint): void {
    this.#late.add(id)
  }

  #learn(id: bigint, one: KnownReminder): void {
    const known = this.#known.get(id)
    const isBetter = known?.now === one.now && known.until <= one.until && known.at > performance.now()
    if (isBetter) return
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(id, one)
  }

  /** Asks whether there is something to do; `isDue` reads the answer. */
  get question(): PollQuestion {
    const { kind, table, hasWork, page } = this.subjects
    const sql = (words: PollFacts) =>
      `SELECT CASE WHEN EXISTS (SELECT 1 ${dueSql(words, kind)}) THEN 1 ELSE COALESCE((` +
      `SELECT CASE WHEN MAX(CASE WHEN ${hasWork(words)} THEN 1 ELSE 0 END) = 1 THEN 1 ELSE -1 - MAX(subject.id) END ` +
      `FROM (SELECT * FROM ${table(words)} WHERE id > ? ORDER BY id LIMIT ${page}) subject), -1) END`
    return { sql, parameters: [this.#after] }
  }

  /** Where nothing is due, the next look continues behind the subjects that this one has looked at. */
  isDue(answer: PollAnswer): boolean {
    this.#isNextAsked = isYes(answer)
    if (this.#isNextAsked || this.#late.size > 0) return true
    this.#after = -1n - BigInt(answer ?? -1)
    return false
  }

  /** The subjects to look at: due, late or, where a look has shown work, next on the way round. */
  async due(reader: Reader): Promise<{ subjects: DueSubject[]; more: boolean }> {
    const { kind, table, page } = this.subjects
    const { bigint } = reader.engine
    const late = [...this.#late]
    const due = new Map<bigint, DueSubject>()
    const dueOf = (id: bigint, isReminded: boolean) => {
      const one = due.get(id) ?? { id, reminders: [], isReminded }
      due.set(id, one)
      return one
    }
    const rows = await reader.rows(
      `SELECT ${bigint('id')} AS id, ${bigint('subject_id')} AS subject_id ${dueSql(reader, kind)} ORDER BY due_at_ms LIMIT ${BATCH}`,
    )
    for (const row of rows) {
      dueOf(BigInt(row.subject_id as string), true).reminders.push(BigInt(row.id as string))
    }
    for (const id of late) dueOf(id, true)
    if (this.#isNextAsked) {
      this.#isNextAsked = false
      const next = await reader.rows(
        // By the column: the text `id` would sort all of them.
        `SELECT ${bigint('id')} AS id FROM ${table(reader)} WHERE id > ? ORDER BY ${table(reader)}.id LIMIT ${page}`,
        [this.#after],
      )
      for (const row of next) dueOf(BigInt(row.id as string), false)
      this.#after = next.length < page ? 0n : BigInt(next.at(-1)?.id as string)
    }
    for (const id of late) this.#late.delete(id)
    return { subjects: [...due.values()], more: rows.length === BATCH }
  }

  /** They have been done. */
  done(tx: Tx, reminders: readonly bigint[]): Promise<void> {
    const sorted = [...reminders].sort((a, b) => (a < b ? -1 : 1))
    return writeAmong(tx, sorted, MAX_KEYS, (some) => `DELETE FROM ${tx.tables.reminders} WHERE id IN ${some}`)
  }
}

/** Has a process look at the subject once the transaction has committed: for what happens seldom. */
export function remindAtOnce(tx: Tx, kind: ReminderKind, id: bigint): Promise<void> {
  return tx.later(reminderSql(tx, kind, id, 0))
}

function reminderSql({ tables, now }: PollFacts, kind: ReminderKind, id: bigint, inMs: number): Statement {
  const sql = `INSERT INTO ${tables.reminders} (kind, subject_id, due_at_ms) VALUES (${kind}, ?, ${now} + ?)`
  return { sql, parameters: [id, inMs] }
}

const dueSql = ({ engine, tables, now }: PollFacts, kind: number) =>
  `FROM ${tables.reminders}${engine.useIndex(tables.index.remindersDue)} WHERE kind = ${kind} AND due_at_ms <= ${now}`

export type PollFacts = Pick<Reader, 'engine' | 'tables' | 'now'>

export interface PollQuestion {
  /** SQL of one value. */
  sql: (words: PollFacts) => string
  parameters: readonly Parameter[]
}

/** Null where the statement has no row for it. */
export type PollAnswer = string | number | null

const MAX_QUESTIONS = 100

/** In the order of the questions. */
export async function answersTo(reader: Reader, questions: readonly PollQuestion[]): Promise<PollAnswer[]> {
  const answers: PollAnswer[] = []
  for (const chunk of chunksOf(questions, MAX_QUESTIONS)) {
    const columns = chunk.map(({ sql }, index) => `(${sql(reader)}) AS q${index}`)
    const [row] = await reader.rows(
      `SELECT ${columns.join(', ')}`,
      chunk.flatMap(({ parameters }) => parameters),
    )
    for (const index of chunk.keys()) answers.push((row?.[`q${index}`] ?? null) as PollAnswer)
  }
  return answers
}

/** A question whether one of these subqueries has a row. */
export function whether(subqueries: (words: PollFacts) => readonly string[]): PollQuestion {
  const any = (words: PollFacts) =>
    subqueries(words)
      .map((sql) => `EXISTS (${sql})`)
      .join(' OR ')
  return { sql: (words) => `SELECT CASE WHEN ${any(words)} THEN 1 ELSE 0 END`, parameters: [] }
}

/** The question of a sweeper's look, and the meaning of its answer. */
export interface DueQuestion {
  readonly question: PollQuestion
  isDue(answer: PollAnswer): boolean
}

export const asked = (question: PollQuestion): DueQuestion => ({ question, isDue: isYes })

export const isYes = (answer: PollAnswer | undefined): boolean => Number(answer) === 1
