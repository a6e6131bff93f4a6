/** The common parts of forms and their fields, and the form for an API key. */
import { useId, useState } from 'preact/hooks'
import { session } from './session'

/** A listener of a form, which stays on its page. */
export function submitting(work: () => unknown): (event: Event) => void {
  return (event) => {
    event.preventDefault()
    work()
  }
}

/** The properties of an input for something that a browser can neither complete nor spell. */
export const textInput = (value: string, onText: (text: string) => void) => ({
  value,
  autocomplete: 'off',
  spellcheck: false,
  onInput: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => onText(event.currentTarget.value),
})

export function KeyForm() {
  const [text, setText] = useState('')
  const id = useId()
  const use = submitting(() => text.trim() !== '' && session.use(text.trim()))
  return (
    <form class="key-form" onSubmit={use}>
      <label for={id}>API key</label>
      <div class="row">
        <input id={id} type="password" placeholder="rk_…" {...textInput(text, setText)} />
        <button type="submit" class="primary">
          Use this key
        </button>
      </div>
      <p class="muted">
        It stays in the tabs of this page, is sent to this server only, and is forgotten when they are closed. Keys are
        made by <code>recentn keys create</code>.
      </p>
    </form>
  )
}
