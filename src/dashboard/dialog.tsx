/** The dialog of questions and forms. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { submitting } from './form'

interface DialogProps {
  title: ComponentChildren
  children: ComponentChildren
  /** The text of the button that confirms. */
  action: ComponentChildren
  isDanger?: boolean | undefined
  /** False while there is nothing to do, or it is not known yet. */
  isReady: boolean
  class?: string
  /** In a second step: leads to the first, and Escape does so too. */
  onBack?: (() => void) | undefined
  onSubmit(close: () => void): void
  onClose(): void
}

/** Escape and Cancel close it. */
export function Dialog({ title, children, action, isDanger, isReady, class: kind, onBack, ...on }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const close = () => dialog.current?.close()
  // Before the step is painted: the second Enter of two can come at once, and does not confirm.
  useLayoutEffect(() => {
    if (!dialog.current?.open) return dialog.current?.showModal()
    const button = onBack === undefined ? 'submit' : 'button'
    dialog.current.querySelector<HTMLElement>(`.buttons > [type=${button}]`)?.focus()
  }, [onBack === undefined])
  // A browser lets a page refuse only some of the closings that it asks for: the key can always be taken.
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || onBack === undefined) return
    event.preventDefault()
    onBack()
  }
  return (
    <dialog ref={dialog} class={kind} onKeyDown={press} onClose={on.onClose} aria-labelledby={id}>
      <form onSubmit={submitting(() => on.onSubmit(close))}>
        <h2 id={id}>{title}</h2>
        {children}
        <div class="buttons">
          <button type="button" onClick={onBack ?? close}>
            {onBack === undefined ? 'Cancel' : 'Back'}
          </button>
          <button type="submit" class={isDanger ? 'danger' : 'primary'} disabled={!isReady}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  )
}
