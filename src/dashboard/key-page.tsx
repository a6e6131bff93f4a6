/** The page of the API key: which one is used, what it may do, and the form for another one. */
import { KeyForm } from './form'
import { useAccess } from './may'
import { Name } from './parts'
import { keyName, session, useKey } from './session'

function Allowed() {
  const access = useAccess()
  if (access === null) return null
  const { scopes, prefix } = access
  return (
    <p class="muted">
      {scopes.includes('admin') ? 'Everything is allowed' : `Allowed: ${scopes.join(', ') || 'nothing'}`}
      {prefix !== null && (
        <>
          {' '}
          in what begins with <Name>{prefix}</Name>
        </>
      )}
      .
    </p>
  )
}

export function KeyPage() {
  const key = useKey()
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
              <button type="button" onClick={() => session.use(null)}>
                Forget it
              </button>
            </>
          )}
        </div>
        <Allowed />
        <KeyForm />
      </div>
    </>
  )
}
