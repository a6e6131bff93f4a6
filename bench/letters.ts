/** The message of the n-th send: about 100 bytes of JSON, the same for every contender, recognisable when it comes. */
import type { Letter } from './types'

export function letterOf(mark: number): Letter {
  return {
    to: `user-${mark % 10_007}@example.org`,
    subject: 'Your order is on its way',
    text: `It left today as parcel ${mark}`,
    mark,
  }
}

/** The number that the letter was made of; -1 for one that is not as it was made. */
export function markOf(body: unknown): number {
  const { to, subject, text, mark } = (body ?? {}) as Partial<Letter>
  if (typeof mark !== 'number' || !Number.isInteger(mark) || mark < 0) return -1
  const made = letterOf(mark)
  return to === made.to && subject === made.subject && text === made.text ? mark : -1
}
