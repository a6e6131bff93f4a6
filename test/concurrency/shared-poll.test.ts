/** One poll for all parts that wait for what others do. */
import { type PollingPart, SharedPoll } from '../../src/kit/shared-poll'
import { eventually } from '../support/timing'

type Asked = string[]

/** A look that answers each question by itself, and keeps what it was asked together. */
function lookOf(answer = async (question: string) => question) {
  const asked: Asked[] = []
  const look = new SharedPoll<string, string>({
    ask: (questions) => {
      asked.push([...questions])
      return Promise.all(questions.map(answer))
    },
  })
  return { look, asked }
}

function partOf(topics: string[], changes: Partial<PollingPart<string, string>> = {}): PollingPart<string, string> {
  return {
    topics: () => topics,
    question: (topic) => `${topic}?`,
    answered: () => false,
    failed: () => {},
    leastMs: () => 20,
    ...changes,
  }
}

describe('a shared look', () => {
  it('asks the questions of all parts at once, and hands each its answers', async () => {
    const { look, asked } = lookOf()
    const answers: string[][] = []
    const answered = (topic: string, answer: string) => {
      answers.push([topic, answer])
      return true
    }
    const parts = [partOf(['a', 'b'], { answered }), partOf(['c'], { answered })].map((part) => look.join(part))
    for (const part of parts) part.begin()
    await eventually(10_000, 'all were asked together', async () => asked.some((one) => one.length === 3))
    await look.stop()
    expect(asked.find((one) => one.length === 3)).toEqual(['a?', 'b?', 'c?'])
    expect(answers.slice(0, 3)).toEqual(expect.arrayContaining([['a', 'a?']]))
    expect(new Set(answers.map(String))).toEqual(new Set(['a,a?', 'b,b?', 'c,c?']))
  })

  it('asks nothing while no caller waits, and again once one does', async () => {
    const { look, asked } = lookOf()
    const topics: string[] = []
    const looks = look.join(partOf(topics))
    looks.begin()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(asked).toEqual([])
    topics.push('t')
    looks.begin()
    await eventually(10_000, 'it was asked', async () => asked.length > 0)
    await look.stop()
  })

  it('looks less often for a caller that has had no news for long, and often again after news', async () => {
    const { look, asked } = lookOf()
    const looks = look.join(partOf(['t'], { leastMs: () => 5 }))
    looks.begin()
    const count = async (ms: number) => {
      const before = asked.length
      await new Promise((resolve) => setTimeout(resolve, ms))
      return asked.length - before
    }
    await count(2000)
    // A pause is now at least 100 ms.
    expect(await count(500)).toBeLessThanOrEqual(5)
    looks.hadEvents()
    const before = asked.length
    await eventually(10_000, 'it looks often', async () => asked.length > before + 6)
    await look.stop()
  })

  it('tells all parts of a look that has failed, and looks again', async () => {
    let isDown = true
    const { look, asked } = lookOf(async (question) => {
      if (isDown) throw new Error('away')
      return question
    })
    let [failures, answers] = [0, 0]
    const part = partOf(['t'], {
      failed: () => failures++,
      answered: () => {
        answers++
        return false
      },
    })
    for (const looks of [look.join(part), look.join(part)]) looks.begin()
    await eventually(10_000, 'both were called', async () => failures >= 2)
    isDown = false
    await eventually(10_000, 'it has looked again', async () => answers >= 2)
    await look.stop()
    const after = asked.length
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(asked.length).toBe(after)
  })
})
