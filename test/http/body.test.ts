import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { type JsonBody, readJsonBody } from '../../src/http/input/body'

/** Reads the bytes as the body of a request. */
function read(bytes: Buffer): Promise<JsonBody | null> {
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
  return readJsonBody({ headers, body: bytes } as unknown as IncomingMessage, 1000)
}

/** The bytes as a strict decoder of UTF-8 reads them; null when they are none. */
function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

const MARK = [0xef, 0xbb, 0xbf]
const pieces = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3 }).map((text) => [...Buffer.from(text)]),
  fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 3 }),
  // Overlong forms, surrogates, beyond U+10FFFF, cut short, and byte order marks.
  fc.constantFrom([0xc0, 0xaf], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], MARK),
)

test('a body is UTF-8 exactly where a strict decoder says so, and reads the same, byte order mark or none', async () => {
  let taken = 0
  const verdict = async (bytes: Buffer) => {
    const text = decoded(bytes)
    const body = await read(bytes).catch((error: Error) => error.message)
    if (text === null) expect(body).toBe('The body is not UTF-8')
    else if (typeof body === 'string') expect(body).toMatch(/^The body is not well-formed JSON: /)
    else expect(body?.text).toBe(text)
    if (body !== null && typeof body === 'object') taken++
  }
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 5 }), fc.constantFrom([], MARK, [...MARK, ...MARK]), (parts, mark) =>
      verdict(Buffer.from([...mark, 0x22, ...parts.flat(), 0x22])),
    ),
    { numRuns: 3000 },
  )
  expect(taken).toBeGreaterThan(300)
})

test('a body that is a byte order mark alone is no JSON', async () => {
  await expect(read(Buffer.from(MARK))).rejects.toThrow('The body is not well-formed JSON')
  expect(await read(Buffer.alloc(0))).toBeNull()
})
