/**
 * Values as they were stored: numbers that a double can't hold keep their text. Browsers before Chrome 114, Firefox 135 and
 * Safari 18.4 can't tell the text of a number, and show it rounded.
 */
import { useState } from 'preact/hooks'

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

export function Value({ value }: { value: unknown }) {
  const [isOpen, setOpen] = useState(false)
  const line = preview(value)
  if (!isNested(value) && !line.endsWith('…')) return <code class="line">{line}</code>
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code class="line">{line}</code>
      </summary>
      {isOpen && <pre>{pretty(value)}</pre>}
    </details>
  )
}

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
  // Plain parsing is several times faster, and is used unless there may be such a number.
  return /\d{16}|\d[.eE]\d*/.test(text)
    ? JSON.parse(text, keepNumber as Parameters<typeof JSON.parse>[1])
    : JSON.parse(text)
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** The body and the attributes of a message, or of a schedule's messages. */
export function BodyAndAttributes({ of: { body, attributes } }: { of: { body: unknown; attributes: object } }) {
  return (
    <>
      <section aria-labelledby="body">
        <h2 id="body">Body</h2>
        <pre class="panel">{pretty(body)}</pre>
      </section>
      {Object.keys(attributes).length > 0 && (
        <section aria-labelledby="attributes">
          <h2 id="attributes">Attributes</h2>
          <pre class="panel">{pretty(attributes)}</pre>
        </section>
      )}
    </>
  )
}

const PREVIEW_LENGTH = 160

/** One line, with spaces where it may wrap; cut to a length. */
export function preview(value: unknown): string {
  // Line breaks inside strings are escaped: these are between fields.
  const text = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ')
  return text.length > PREVIEW_LENGTH ? `${text.slice(0, PREVIEW_LENGTH)}…` : text
}
