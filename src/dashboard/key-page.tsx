/** The page of the API key: which one is used, what it may do, and the form for another one. */
import { KeyForm } from './form'
import { useAccess } from './may'
import { Name, PageHead, sentence } from './parts'
import { keyName, session, useKey } from './session'

export function KeyPage() {
  const key = useKey()
  const { scopes, prefix } = useAccess() ?? { scopes: null, prefix: null }
  return (
    <>
      <PageHead title="API key" />
      <div class="panel padded">
        <div class="row" role="status">
          <p>{key === null ? 'No key is used.' : sentence`${<Name>{keyName(key)}</Name>} is used in this tab.`}</p>
          {key !== null && (
            <button type="button" onClick={() => session.use(null)}>
              Forget it
            </button>
          )}
        </div>
        {scopes !== null && (
          <p class="muted">
            {scopes.includes('admin') ? 'Everything is allowed' : `Allowed: ${scopes.join(', ') || 'nothing'}`}
            {prefix !== null && sentence` in what begins with ${<Name>{prefix}</Name>}`}.
          </p>
        )}
        <KeyForm />
      </div>
    </>
  )
}
