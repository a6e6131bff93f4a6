/**
 * Questions that one statement asks together: each is a scalar, so that whoever waits for what other processes do shares a
 * look with all others. Nothing is locked.
 */
import type { Parameter, Reader } from '../database/engine'
import { chunksOf } from './chunks'

export type QuestionWords = Pick<Reader, 'engine' | 'tables' | 'now'>

export interface LookQuestion {
  /** SQL of one value. */
  sql: (words: QuestionWords) => string
  parameters: readonly Parameter[]
}

/** Null where the statement has no row for it. */
export type LookAnswer = string | number | null

const MAX_QUESTIONS = 100

/** In the order of the questions. */
export async function answersTo(reader: Reader, questions: readonly LookQuestion[]): Promise<LookAnswer[]> {
  const answers: LookAnswer[] = []
  for (const chunk of chunksOf(questions, MAX_QUESTIONS)) {
    const columns = chunk.map(({ sql }, index) => `(${sql(reader)}) AS q${index}`)
    const [row] = await reader.rows(
      `SELECT ${columns.join(', ')}`,
      chunk.flatMap(({ parameters }) => parameters),
    )
    for (const index of chunk.keys()) answers.push((row?.[`q${index}`] ?? null) as LookAnswer)
  }
  return answers
}

/** A question whether one of these subqueries has a row. */
export function whether(subqueries: (words: QuestionWords) => readonly string[]): LookQuestion {
  const any = (words: QuestionWords) =>
    subqueries(words)
      .map((sql) => `EXISTS (${sql})`)
      .join(' OR ')
  return { sql: (words) => `SELECT CASE WHEN ${any(words)} THEN 1 ELSE 0 END`, parameters: [] }
}

/** What a sweeper's look asks, and what the answer says. */
export interface DueQuestion {
  readonly question: LookQuestion
  isDue(answer: LookAnswer): boolean
}

/** A question of yes or no. */
export const asked = (question: LookQuestion): DueQuestion => ({ question, isDue: isYes })

export const isYes = (answer: LookAnswer | undefined): boolean => Number(answer) === 1
