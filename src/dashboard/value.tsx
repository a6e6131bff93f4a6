/** Values as they were stored: in a line, and whole. */
import { useState } from 'preact/hooks'
import { Section } from './parts'

export function Value({ value }: { value: unknown }) {
  const [isOpen, setOpen] = useState(false)
  const line = preview(value)
  // There is more to see of what was cut, and of an array or object that is not empty.
  if (!/^[[{] |…$/.test(line)) return <code class="line">{line}</code>
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code class="line">{line}</code>
      </summary>
      {isOpen && <pre>{pretty(value)}</pre>}
    </details>
  )
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

export function WholeValue({ title, value }: { title: string; value: unknown }) {
  return (
    <Section title={title}>
      <pre class="panel">{pretty(value)}</pre>
    </Section>
  )
}

/** The body and the attributes of a message, or of a schedule's messages. */
export function BodyAndAttributes({ of: { body, attributes } }: { of: { body: unknown; attributes: object } }) {
  return (
    <>
      <WholeValue title="Body" value={body} />
      {Object.keys(attributes).length > 0 && <WholeValue title="Attributes" value={attributes} />}
    </>
  )
}

const PREVIEW_LENGTH = 160

/** One line, with spaces where it may wrap; cut to a length. */
function preview(value: unknown): string {
  // Line breaks inside strings are escaped: these are between fields.
  const text = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ')
  return text.length > PREVIEW_LENGTH ? `${text.slice(0, PREVIEW_LENGTH)}…` : text
}
