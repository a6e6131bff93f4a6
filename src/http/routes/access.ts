/** `/v1/access`: what the caller may do, for whoever shows buttons. */
import type { Allowance } from '../allowance'
import { ok, type Route, route } from '../route'

const example = { scopes: ['append', 'read'], prefix: null }

const get = route({
  method: 'get',
  path: '/v1/access',
  scope: null,
  about: () => [],
  tellsAccess: true,
  operation: {
    id: 'getAccess',
    tag: 'Access',
    summary: 'What the caller may do',
    description:
      'Any valid key may ask, whatever its scopes. `scopes` lists each scope that the caller has; a key with `admin` has ' +
      'them all. `prefix` is what the names of groups, queues, feeds and policies must begin with; null is all names.',
    outcomes: { 200: { description: 'The scopes and the prefix.', schema: 'Access', example } },
  },
  async handle(_store, { allowance }) {
    const { scopes, prefix } = allowance as Allowance
    return ok(JSON.stringify({ scopes, prefix }))
  },
})

export const accessRoutes: readonly Route[] = [get]
