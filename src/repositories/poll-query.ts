/**
 * Questions that one statement asks together: each is a scalar, so that whoever waits for what other processes do shares a
 * look with all others. Nothing is locked.
 */
import type { Parameter, Reader } from '../database/engine'
import { chunksOf } from './chunks'

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
