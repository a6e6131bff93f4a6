/** The form that opens the page of a member. Members are found by their whole name only. */
import { useState } from 'preact/hooks'
import { goTo } from './place'

const LABEL = 'A member, by the whole name'

export function MemberForm() {
  const [member, setMember] = useState('')
  const open = (event: Event) => {
    event.preventDefault()
    goTo(['members', member])
  }
  return (
    <form class="member" onSubmit={open}>
      <label>
        <span class="hidden">{LABEL}</span>
        <input
          required
          placeholder={LABEL}
          value={member}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setMember(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Open</button>
    </form>
  )
}
