/** `/v1/access`: what the caller may do, for user interfaces that show only what works. */
import { ACCESS } from '../../fields/answers-process'
import type { Allowance } from '../access'
import { type Route, route } from '../route'

const get = route({
  method: 'get',
  path: '/v1/access',
  scope: null,
  about: () => [],
  tellsAccess: true,
  id: 'getAccess',
  tag: 'Access',
  summary: 'Read what the caller may do',
  description:
    'Any valid key may call it, whatever its scopes. `scopes` lists the scopes that the caller has; a key with `admin` has ' +
    'all of them. The names of groups, queues, schedules, feeds and policies must begin with `prefix`; null allows all names.',
  outcomes: { 200: { description: 'The scopes and the prefix.', shape: ACCESS } },
  async handle(_store, { allowance }) {
    const { scopes, prefix } = allowance as Allowance
    return ACCESS.json({ scopes: [...scopes], prefix })
  },
})

export const accessRoutes: readonly Route[] = [get]
