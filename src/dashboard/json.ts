/**
 * JSON as it was stored: numbers that a double can't hold stay as they were written, where the browser can tell their
 * text (Chrome 114, Firefox 135, Safari 18.4; older ones show them rounded).
 */

type RawJson = { rawJSON?: (text: string) => unknown }

const { rawJSON } = JSON as RawJson

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

const keepNumber: Reviver = (_key, value, context) => {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || rawJSON === undefined || String(value) === source)
    return value
  return rawJSON(source)
}

export function parseExactly(text: string): unknown {
  // As plain parsing is several times faster, only where there may be such a number.
  return /\d{16}|\d[.eE]\d*/.test(text)
    ? JSON.parse(text, keepNumber as Parameters<typeof JSON.parse>[1])
    : JSON.parse(text)
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

const PREVIEW_LENGTH = 160

/** One line, with spaces where it may be broken; cut where it gets long. */
export function preview(value: unknown): string {
  // What breaks a line inside of a string is escaped.
  const text = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ')
  return text.length > PREVIEW_LENGTH ? `${text.slice(0, PREVIEW_LENGTH)}…` : text
}
