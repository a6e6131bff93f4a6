import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { inputOf, type LogInput, type LogLine, MAX_LINE_BYTES, readLines } from '../../src/cli/lines'

const never = new AbortController().signal

function inputFrom(chunks: Iterable<Buffer>): LogInput {
  return { name: 'test', size: null, open: () => Readable.from(chunks, { objectMode: false }) }
}

async function collect(input: LogInput, into: LogLine[] = [], onBytes?: (count: number) => void): Promise<LogLine[]> {
  for await (const lines of readLines(input, { signal: never, onBytes })) into.push(...lines)
  return into
}

const texts = (lines: LogLine[]) => lines.map((line) => line.bytes?.toString() ?? null)

/** Cuts bytes into chunks of the given sizes, over and over. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] as number
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

describe('lines', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\nb', ['a', 'b']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['\n\na\n\n', ['', '', 'a', '']],
    ['a\rb\r\r\n', ['a\rb\r']],
    ['\ufeffa\n\ufeffb\n', ['a', '\ufeffb']],
  ])('of %j', async (text, expected) => {
    const lines = await collect(inputFrom([Buffer.from(text)]))
    expect(texts(lines)).toEqual(expected)
    expect(lines.map((line) => line.number)).toEqual(expected.map((_, index) => index + 1))
  })

  it('are the same however the bytes arrive, plain or compressed', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '\r', ' '), maxLength: 20 })
    const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.boolean(), fc.boolean(), sizes, async (made, crlf, zipped, chunkSizes) => {
        const text = made.map((one) => one + (crlf ? '\r\n' : '\n')).join('')
        const bytes = zipped ? gzipSync(text) : Buffer.from(text)
        const expected = crlf ? made : made.map((one) => one.replace(/\r$/, ''))
        expect(texts(await collect(inputFrom(cut(bytes, chunkSizes))))).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })

  it('may be 64 KiB long and no longer', async () => {
    const most = 'x'.repeat(MAX_LINE_BYTES)
    const text = [
      most,
      `${most}\r`,
      `${most}x`,
      `${most}x\r`,
      'x'.repeat(3 * MAX_LINE_BYTES),
      'short',
      `${most}xx`,
    ].join('\n')
    for (const size of [7919, 65_536, 1_000_000]) {
      const lines = await collect(inputFrom(cut(Buffer.from(text), [size])))
      expect(texts(lines)).toEqual([most, most, null, null, null, 'short', null])
    }
  })

  it('keep next to nothing of a line that never ends', async () => {
    function* endless() {
      for (let i = 0; i < 4000; i++) yield Buffer.alloc(65_536, 'x')
      yield Buffer.from('\nlast')
    }
    const before = process.memoryUsage()
    const lines = await collect(inputFrom(endless()))
    const after = process.memoryUsage()
    expect(texts(lines)).toEqual([null, 'last'])
    expect(after.rss - before.rss).toBeLessThan(150 * 1024 * 1024)
  })

  it('of several gzip members in one file follow each other', async () => {
    const bytes = Buffer.concat([gzipSync('a\nb'), gzipSync('c\nd\n')])
    expect(texts(await collect(inputFrom([bytes])))).toEqual(['a', 'bc', 'd'])
  })

  it('of a gzip file that is cut off are given up to there', async () => {
    const whole = gzipSync(Array.from({ length: 20_000 }, (_, n) => `line ${n} ${Math.sin(n)}\n`).join(''))
    const lines: LogLine[] = []
    await expect(collect(inputFrom(cut(whole.subarray(0, whole.length / 2), [4096])), lines)).rejects.toThrow(
      'unexpected end of file',
    )
    expect(lines.length).toBeGreaterThan(5000)
    expect(lines.every((line, n) => line.bytes?.toString() === `line ${n} ${Math.sin(n)}`)).toBe(true)
  })

  it('end at a signal, also while nothing comes', async () => {
    const stop = new AbortController()
    const source = new PassThrough()
    source.write('a\n')
    const lines: LogLine[] = []
    const reading = (async () => {
      for await (const some of readLines({ name: 'x', size: null, open: () => source }, { signal: stop.signal })) {
        lines.push(...some)
        setTimeout(() => stop.abort(), 20)
      }
    })()
    await expect(reading).rejects.toThrow(/abort/i)
    expect(texts(lines)).toEqual(['a'])
    expect(source.destroyed).toBe(true)
  })
})

describe('a file', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'recentn-lines-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('is known to be compressed by its content and not by its name', async () => {
    writeFileSync(join(folder, 'plain.gz'), 'a\nb\n')
    writeFileSync(join(folder, 'zipped.log'), gzipSync('c\nd\n'))
    expect(texts(await collect(await inputOf(join(folder, 'plain.gz'))))).toEqual(['a', 'b'])
    expect(texts(await collect(await inputOf(join(folder, 'zipped.log'))))).toEqual(['c', 'd'])
  })

  it('is counted in bytes as it is stored', async () => {
    const bytes = gzipSync('x\n'.repeat(100_000))
    writeFileSync(join(folder, 'counted'), bytes)
    const input = await inputOf(join(folder, 'counted'))
    let read = 0
    const lines = await collect(input, [], (count) => {
      read += count
    })
    expect(lines).toHaveLength(100_000)
    expect([input.size, read]).toEqual([bytes.length, bytes.length])
  })

  it('must be there, and be a file', async () => {
    await expect(inputOf(join(folder, 'missing'))).rejects.toThrow('ENOENT')
    await expect(inputOf(folder)).rejects.toThrow('is a directory')
  })

  it('that is - is standard input', async () => {
    expect(await inputOf('-')).toMatchObject({ name: '-', size: null })
  })
})
