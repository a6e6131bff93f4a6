// Compiled against `@recentn/client` alone, without the types of Node.
import {
  type Client,
  type ClientOptions,
  createClient,
  type Item,
  type QueueHandle,
  RecentnError,
  UnrecoverableError,
} from '@recentn/client'
import { type CallsClient, createClient as createCalls } from '@recentn/client/calls'

interface Mail {
  to: string
}

const limit: number | undefined = undefined as number | undefined
const options: ClientOptions = { baseUrl: 'https://recentn.test', key: async () => 'rk_1', timeoutSeconds: limit }
const client: Client = createClient(options)
const calls: CallsClient = createCalls(options)

export async function use(): Promise<bigint> {
  const { items, totalAppended } = await calls.groups.recent('g', { limit })
  const [item]: Item[] = items
  const [mail] = await calls.queue<Mail>('mail').receive()
  const handle: QueueHandle<Mail> = client.queue<Mail>('mail')
  await handle.send({ to: mail?.body.to ?? item?.member ?? 'ann' }, { delaySeconds: limit })
  // @ts-expect-error: a mail has no number in it.
  await handle.send({ to: 1 })
  // @ts-expect-error: this entry has no loops.
  calls.queues.work
  for await (const event of client.groups.watch('g')) if (event.type === 'item') return event.item.id
  const worker = client.queues.work<Mail>('mail', ({ body }) => {
    if (body.to === '') throw new UnrecoverableError('nobody')
  })
  await worker.stop({ timeoutSeconds: limit }).catch((error: unknown) => {
    if (error instanceof RecentnError) throw new Error(error.code)
  })
  return totalAppended
}
