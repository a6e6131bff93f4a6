/** The look of a store at what other processes do, which all of its waiting parts share. */
import type { Session } from '../database/engine'
import { SharedLook } from '../kit/shared-poll'
import { answersTo, type LookAnswer, type LookQuestion } from '../repositories/poll-query'

export type StoreLook = SharedLook<LookQuestion, LookAnswer>

export function openLook(session: Session): StoreLook {
  return new SharedLook({ ask: (questions) => session.read((reader) => answersTo(reader, questions)) })
}
