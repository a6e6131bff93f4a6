import { PassThrough } from 'node:stream'
import { createProgress, jsonLine, printable } from '../../src/cli/progress'

function stream(isTTY: boolean): { stream: NodeJS.WriteStream; written(): string } {
  const through = Object.assign(new PassThrough(), { isTTY, columns: 120, rows: 40 })
  let text = ''
  through.on('data', (chunk) => {
    text += chunk
  })
  return { stream: through as unknown as NodeJS.WriteStream, written: () => text }
}

test('what would control a terminal, or turn the order of a text, is escaped, in tables and in JSON', () => {
  expect(printable('a\u001b[31m\u009b1m\u202eb\u2066\u2028c\u2029\u200b\u{e0041}ü😀')).toBe(
    'a\\x1b[31m\\x9b1m\\u{202e}b\\u{2066}\\u{2028}c\\u{2029}\\u{200b}\\u{e0041}ü😀',
  )
  const value = { error: '\u001b\u007f\u009b2J' }
  expect(jsonLine(value)).toBe('{"error":"\\u001b\\u007f\\u009b2J"}\n')
  expect(JSON.parse(jsonLine(value))).toEqual(value)
})

describe('the progress of a replay', () => {
  it('is a bar on a terminal', async () => {
    const terminal = stream(true)
    const progress = createProgress(1000, terminal.stream)
    await new Promise((done) => setTimeout(done, 250))
    progress.advance(420)
    progress.count(12_345, 12_000)
    progress.note('a note')
    await new Promise((done) => setTimeout(done, 250))
    progress.stop()
    const length = terminal.written().length
    await new Promise((done) => setTimeout(done, 250))
    expect(terminal.written()).toHaveLength(length)
    expect(terminal.written()).toMatch(/42% \| 12,345 lines \| [0-9,]+ appends\/s/)
    expect(terminal.written()).toContain('a note\n')
  })

  it.each<[string, boolean, number | null]>([
    ['standard error is no terminal', false, 1000],
    ['the size is not known', true, null],
    ['there is nothing to read', true, 0],
  ])('is only notes when %s', (_, isTTY, size) => {
    const output = stream(isTTY)
    const progress = createProgress(size, output.stream)
    progress.advance(10)
    progress.count(1, 1)
    progress.note('bad \u001b[31m line\u0007')
    progress.stop()
    expect(output.written()).toBe('bad \\x1b[31m line\\x07\n')
  })
})
