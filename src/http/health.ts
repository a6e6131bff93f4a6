/** `/livez` and `/readyz`, for whoever runs the process. */
import { ok, type Route, route } from './route'

const OK = JSON.stringify({ status: 'ok' })
const example = { status: 'ok' }

const livez = route({
  method: 'get',
  path: '/livez',
  scope: null,
  reach: 'nothing',
  operation: {
    id: 'livez',
    tag: 'Process',
    summary: 'Whether the process answers',
    outcomes: { 200: { description: 'It does.', schema: 'Health', example } },
  },
  handle: async () => ok(OK),
})

const readyz = route({
  method: 'get',
  path: '/readyz',
  scope: null,
  reach: 'nothing',
  operation: {
    id: 'readyz',
    tag: 'Process',
    summary: 'Whether the database answers too',
    outcomes: { 200: { description: 'It does.', schema: 'Health', example } },
  },
  async handle(store) {
    await store.ping()
    return ok(OK)
  },
})

export const healthRoutes: readonly Route[] = [livez, readyz]
