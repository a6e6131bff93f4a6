/** Which key is used, another one, or none. */
import { useState } from 'preact/hooks'
import { KeyForm } from './key-form'
import { Name } from './parts'
import { keyName, session } from './session'

export function KeyPage() {
  const [key, setKey] = useState(session.key)
  const forget = () => {
    session.use(null)
    setKey(null)
  }
  return (
    <>
      <h1 tabIndex={-1}>API key</h1>
      <div class="panel padded">
        <div class="row" role="status">
          {key === null ? (
            <p>No key is used.</p>
          ) : (
            <>
              <p>
                <Name>{keyName(key)}</Name> is used in this tab.
              </p>
              <button type="button" onClick={forget}>
                Forget it
              </button>
            </>
          )}
        </div>
        <KeyForm onUsed={() => setKey(session.key)} />
      </div>
    </>
  )
}
