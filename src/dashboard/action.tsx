/** A button that asks, works, and says what came of it. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { sentenceOf, toError } from './api'
import { Dialog } from './dialog'
import { textInput } from './form'
import { AdminButton, type Scope } from './may'
import { counted, LoadState, Name, sentence } from './parts'
import { usePolled } from './polled'
import { say } from './toast'

/** A text, or what makes one of what was seen; null until it is. */
type Saying<T> = string | ((seen: T | null) => ComponentChildren)

/** Such as `Delete 3 messages`; only the verb if there are none, or while they are counted. */
export const verbOn = (verb: string, what: string) => (count: number | null) =>
  count ? sentence`${verb} ${counted(count, what)}` : verb

export interface ActProps<T, Done> {
  /** The text of the button. */
  label: string
  /** The text that a screen reader says in its place. */
  name?: string
  class?: string
  scope?: Scope
  isDisabled?: boolean
  /** Of the question; without one the work begins at once. */
  title?: Saying<T>
  /** The text of the button that confirms. Default: that of the button. */
  action?: Saying<T>
  isDanger?: boolean
  mustType?: string
  /** Sees first how much the work concerns. */
  look?(signal: AbortSignal): Promise<T>
  /** False if there is nothing to do. Default: unless it sees 0. */
  isReady?(seen: T): boolean
  work(seen: T): Promise<Done>
  /** The sentence for a toast, or what makes it of the outcome; none if it is left out. */
  said?: string | ((done: Done) => ComponentChildren)
  onDone?(): void
  /** The text of the question. */
  children?: ComponentChildren | ((seen: T) => ComponentChildren)
}

export function Act<T = null, Done = unknown>(props: ActProps<T, Done>) {
  const { label, name, class: kind, scope, isDisabled = false, title, work, said, onDone } = props
  const [isAsking, setAsking] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const run = async (seen: T) => {
    setRunning(true)
    try {
      const done = await work(seen)
      if (said !== undefined) say(typeof said === 'string' ? said : said(done))
      onDone?.()
    } catch (thrown) {
      say(sentenceOf(toError(thrown)), true)
    }
    setRunning(false)
  }
  const press = () => (title === undefined ? run(null as T) : setAsking(true))
  return (
    <>
      <AdminButton scope={scope} class={kind} name={name} isDisabled={isDisabled || isRunning} onClick={press}>
        {label}
      </AdminButton>
      {isAsking && <Question {...props} onYes={run} onClose={() => setAsking(false)} />}
    </>
  )
}

interface QuestionProps<T> extends Omit<ActProps<T, never>, 'work' | 'said'> {
  onYes(seen: T): void
  onClose(): void
}

function Question<T>({ label, look, mustType, isReady, children, onYes, ...props }: QuestionProps<T>) {
  const { title = '', action = label.replace(' …', ''), isDanger, onClose } = props
  const [text, setText] = useState('')
  const { data: seen, error } = usePolled(look, '', null)
  const textOf = (saying: Saying<T>) => (typeof saying === 'string' ? saying : saying(seen))
  const isSeen = look === undefined || (seen !== null && (isReady?.(seen) ?? seen !== 0))
  const yes = (close: () => void) => {
    close()
    onYes(seen as T)
  }
  return (
    <Dialog
      title={textOf(title)}
      action={textOf(action)}
      isDanger={isDanger}
      isReady={isSeen && (mustType === undefined || text === mustType)}
      onSubmit={yes}
      onClose={onClose}
    >
      {look !== undefined && <LoadState data={seen} error={error} />}
      {typeof children === 'function' ? seen !== null && children(seen) : children}
      {mustType !== undefined && (
        <label class="field">
          <span>{sentence`Type ${<Name>{mustType}</Name>} to confirm`}</span>
          <input {...textInput(text, setText)} />
        </label>
      )}
    </Dialog>
  )
}
