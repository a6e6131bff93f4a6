/** A payload or a body: one line, and the whole value when it is opened. */
import { useState } from 'preact/hooks'
import { pretty, preview } from './json'

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
