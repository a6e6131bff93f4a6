/** The row of a poll's handler has not the columns that the poll writes. Compiled only. */
import type { Store } from '../../src'

class Order {
  id!: number
  customer!: string
  state!: string
  claim!: string | null
  attempts!: number
  nextTime!: bigint
}

export function polls(store: Store): void {
  store.poll(Order, (row) => row.customer.length + row.attempts + row.state.length)
  // @ts-expect-error: the status
  store.poll(Order, (row) => row.state, { status: 'state' })
  store.poll(Order, ({ attempts, customer }) => attempts + customer.length, {
    status: { column: 'state', done: 'shipped' },
    onError: (_error, row) => row?.customer,
  })
  const claim = { claim: 'claim', attempts: 'attempts', nextTime: 'nextTime' } as const
  // @ts-expect-error: a column for claims
  store.poll(Order, (row) => row.attempts, { claim })
  store.poll(Order, async ({ id, state }) => [id, state], { claim, backoff: { maxSeconds: 5 }, key: ['id'] })
  const status = { column: 'state', results: ['sent', 'skipped'] } as const
  store.poll(Order, async ({ id }) => (id > 1 ? 'sent' : 'skipped'), { status, order: 'cycle' })
  store.poll(Order, ({ id }) => (id > 1 ? 1 : 2), { status: { column: 'state', results: [1, 2] } })
  // @ts-expect-error: no word of the results
  store.poll(Order, async () => 'lost', { status })
  // @ts-expect-error: not all of its answers are words of the results
  store.poll(Order, ({ id }) => (id > 1 ? 'sent' : undefined), { status })
  // @ts-expect-error: no such option
  store.poll(Order, () => {}, { statos: 'state' })
  store.poll<{ id: string }>('orders', ({ id }) => id.length, { status: 'state' })
  store.poll('orders', (row) => row.anything, { status: 'state' })
}
