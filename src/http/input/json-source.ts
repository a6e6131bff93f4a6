/**
 * The source text of values inside a JSON text. `JSON.parse` rounds numbers, so a payload whose numbers it may not give
 * back as they were written is kept as the slice it came from. Every function here expects a text that `JSON.parse` took.
 */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

// 16 digits and points in a row, an exponent, a fraction with six leading zeros or a trailing one, a minus zero. Strings may match too:
// that only costs the scan. Each alternative begins with one character, so that most of a text is passed over quickly.
const UNUSUAL_NUMBER = /\d(?:[\d.]{15}|[eE][+-]?\d)|\.(?:0{6}|\d*0(?!\d))|(?<![^[:,\s])-0(?!\.\d*[1-9])/

/** Whether the text may have a number that `JSON.parse` and `JSON.stringify` don't give back as it is written. */
export function hasUnusualNumber(text: string): boolean {
  return UNUSUAL_NUMBER.test(text)
}

/** Where in a text a value is whose numbers `JSON.parse` may have rounded; null where the parsed value will do. */
export type JsonSource = { text: string; start: number } | null

/** Of the whole body. */
export function wholeSource({ text }: { text: string | null }): JsonSource {
  return text !== null && hasUnusualNumber(text) ? { text, start: 0 } : null
}

/** Where the value of a member of the object at `at` begins (the last one of this name), or -1. */
export function memberStart(text: string, at: number, name: string): number {
  let found = -1
  let i = skipSpace(text, at)
  if (text.charCodeAt(i) !== OPEN_BRACE) return -1
  i = skipSpace(text, i + 1)
  while (text.charCodeAt(i) === QUOTE) {
    const endOfKey = endOfString(text, i)
    const key = JSON.parse(text.slice(i, endOfKey))
    const start = skipSpace(text, skipSpace(text, endOfKey) + 1)
    if (key === name) found = start
    i = skipSpace(text, endOfValue(text, start))
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1)
  }
  return found
}

/** Where each element of the array at `at` begins. */
export function elementStarts(text: string, at: number): number[] {
  const starts: number[] = []
  if (text.charCodeAt(at) !== OPEN_BRACKET) return starts
  let i = skipSpace(text, at + 1)
  while (i < text.length && text.charCodeAt(i) !== CLOSE_BRACKET) {
    starts.push(i)
    i = skipSpace(text, endOfValue(text, i))
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1)
  }
  return starts
}

/** The source of the value that begins at `at`, without the white space between its tokens. */
export function valueSource(text: string, at: number): string {
  const end = endOfValue(text, at)
  let compact = ''
  let pieceStart = at
  for (let i = at; i < end; ) {
    if (text.charCodeAt(i) === QUOTE) {
      i = endOfString(text, i)
    } else if (isSpace(text.charCodeAt(i))) {
      compact += text.slice(pieceStart, i)
      i = skipSpace(text, i)
      pieceStart = i
    } else {
      i++
    }
  }
  return compact + text.slice(pieceStart, end)
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function skipSpace(text: string, at: number): number {
  let i = at
  while (isSpace(text.charCodeAt(i))) i++
  return i
}

function endOfString(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === BACKSLASH) i++
    else if (code === QUOTE) return i + 1
  }
  return text.length
}

function endOfValue(text: string, at: number): number {
  let depth = 0
  for (let i = at; i < text.length; ) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      i = endOfString(text, i)
      if (depth === 0) return i
      continue
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return i
      if (--depth === 0) return i + 1
    } else if (depth === 0 && (code === COMMA || isSpace(code))) return i
    i++
  }
  return text.length
}
