/** JSON that is stored and given out again: what comes back is the text that went in. */
import { JSON_TEXTS } from '../../support/json-values'
import type { Answer } from './client'

interface Way {
  /** How many texts a round trip gives. */
  copies: number
  /** A text that looks like the request around it. */
  like: string
  /** Where a fault of the text is. */
  pointer: string
  /** Sends one text to where nothing is yet. */
  send(text: string): Promise<Answer>
}

/** Tests, in a `describe`, that `roundTrips` gives a text back by every route, and how deep it may be nested. */
export function describeRoundTrips(roundTrips: (text: string) => Promise<string[]>, way: Way): void {
  const back = (text: string) => Array(way.copies).fill(text)

  test.each([...JSON_TEXTS, way.like, '{"t":"2026-01-01T00:00:00.000Z"}'])('%s', async (text) => {
    expect(await roundTrips(text)).toEqual(back(text))
  })

  test('without the white space around its tokens', async () => {
    expect(await roundTrips('{ "a" : [ 1.0 , " x " ] }')).toEqual(back('{"a":[1.0," x "]}'))
  })

  test('64 levels deep, and no deeper', async () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(await roundTrips(nested(64))).toEqual(back(nested(64)))
    for (const depth of [65, 10_000, 400_000]) {
      const answer = await way.send(nested(depth))
      const fault = { pointer: way.pointer, detail: 'is nested more than 64 levels deep' }
      expect([answer.status, answer.json.errors]).toEqual([400, [fault]])
    }
  })
}
