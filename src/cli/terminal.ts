/** What is written to a terminal, and what programs read. */

/** Controls, line and paragraph separators, and what is not seen: marks that turn the direction of text, for example. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes control characters: text from a log or a server must not control the terminal, nor show another order. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => {
    const code = character.codePointAt(0) as number
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
  })
}

/** A line of JSON. `JSON.stringify` escapes only the first of two ranges of control characters. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(/[\u007f-\u009f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)}\n`
}
