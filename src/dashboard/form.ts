/** What forms and their fields have in common. */

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
  onInput: (event: { currentTarget: HTMLInputElement }) => onText(event.currentTarget.value),
})
