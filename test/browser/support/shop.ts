/** A shop whose database recentn runs in: what was looked at, mails and thumbnails to be made, users for the search. */
import type { Server } from './server'

const ARTICLES = ['espresso-machine', 'field-notebook', 'linen-shirt', 'oak-desk', 'rain-jacket', 'reading-lamp']
const PLACES = ['search', 'newsletter', 'home', 'recommendation']
const PEOPLE = ['ana', 'björn', 'chidi', 'dilnoza', 'emre', 'fatima', 'goran', 'hana', 'inès', 'jun']
const TEMPLATES = ['welcome', 'receipt', 'password-reset', 'shipping-notice']

/** The same numbers each time. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

export function anyOf<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T
}

interface View {
  group: string
  member: string
  payload: unknown
}

export function aView(random: () => number): View {
  return {
    group: `article:${anyOf(ARTICLES, random)}`,
    member: anyOf(PEOPLE, random),
    payload: {
      from: anyOf(PLACES, random),
      device: random() < 0.6 ? 'phone' : 'desktop',
      seconds: Math.ceil(random() * 240),
    },
  }
}

function aMail(random: () => number): unknown {
  const to = `${anyOf(PEOPLE, random)}@example.org`
  return { template: anyOf(TEMPLATES, random), to, order: `A-${10_000 + Math.floor(random() * 9000)}` }
}

/** Everything there is before anyone looks. */
export async function fillShop(server: Server): Promise<void> {
  const random = chance(7)
  const { call } = server
  await call('PUT', 'policies/article%3A', { capacity: 50, mode: 'distinct', ttlSeconds: 2_592_000 })
  await call('PUT', 'policies/login%3A', { capacity: 5, mode: 'history' })
  await call('POST', 'items', { items: Array.from({ length: 400 }, () => aView(random)) })
  const logins = PEOPLE.slice(0, 4).flatMap((who) =>
    Array.from({ length: 7 }, () => ({
      group: `login:${who}`,
      payload: { ip: `192.0.2.${Math.ceil(random() * 250)}` },
    })),
  )
  await call('POST', 'items', { items: logins })
  await call('PUT', 'queues/mail-dead', {})
  await call('PUT', 'queues/mail', { maxReceives: 3, deadLetterQueue: 'mail-dead', visibilityTimeoutSeconds: 60 })
  await call('PUT', 'queues/thumbnails', { maxReceives: 1, onAck: 'archive', retentionSeconds: 604_800 })
  await call('PUT', 'queues/invoices', {})
  await call('POST', 'queues/invoices/pause')
  await call('POST', 'queues/invoices/messages', { messages: [1, 2, 3].map((order) => ({ body: { order } })) })
  const entries = PEOPLE.map((key) => ({ key, value: { name: key, plan: random() < 0.3 ? 'pro' : 'free' } }))
  await call('POST', 'feeds/users/entries', { entries })
  const products = ARTICLES.map((key) => ({ key, value: { price: Math.ceil(random() * 200) } }))
  await call('POST', 'feeds/products/entries', { entries: products })
  for (const [consumer, cursor] of [
    ['search-index', '10'],
    ['crm-sync', '7'],
    ['newsletter', '2'],
  ] as const) {
    await eventually(() => call('PUT', `feeds/users/consumers/${consumer}`, { cursor }))
  }
}

/** A publisher has to have been there first. */
async function eventually(work: () => Promise<unknown>): Promise<void> {
  for (let left = 50; ; left--) {
    const failed = await work().then(
      () => null,
      (error: Error) => error,
    )
    if (failed === null) return
    if (left === 0) throw failed
    await pause(100)
  }
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const MAIL_ERRORS = [
  'SMTP 550: mailbox unavailable (smtp.example.org)',
  'SMTP 421: too many connections, try again later\n    at Session.reply (smtp.js:118:15)\n    at Worker.deliver (mail.js:42:9)',
]

interface Received {
  messages: { id: string; receiptHandle: string; body: { to?: string } }[]
}

/** Receives mails, and delivers those whose address accepts mail. */
export async function deliver({ call }: Server, limit: number, random: () => number): Promise<void> {
  const { messages } = (await call('POST', 'queues/mail/receive', { limit })) as Received
  const isBad = ({ body }: Received['messages'][number]) => body.to === 'goran@example.org'
  const good = messages.filter((message) => !isBad(message)).map(({ receiptHandle }) => receiptHandle)
  const bad = messages.filter(isBad).map(({ receiptHandle }) => receiptHandle)
  await pause(250)
  if (good.length > 0) await call('POST', 'queues/mail/ack', { receiptHandles: good })
  if (bad.length > 0) {
    await call('POST', 'queues/mail/nack', { receiptHandles: bad, error: anyOf(MAIL_ERRORS, random) })
  }
}

export interface Life {
  stop(): Promise<void>
}

/** Views and mails come in waves, and are worked on, until it is stopped. */
export function live(server: Server): Life {
  const random = chance(11)
  const start = Date.now()
  let isOver = false
  const repeat = async (ms: number, work: () => Promise<unknown>) => {
    while (!isOver) {
      await work()
      await pause(ms)
    }
  }
  const wave = () => 1 + Math.sin((Date.now() - start) / 4500)
  const running = [
    repeat(350, () => server.call('POST', 'items', { items: [aView(random)] })),
    repeat(300, () => {
      const messages = Array.from({ length: Math.ceil(wave() * 9 * random()) }, () => ({ body: aMail(random) }))
      return server.call('POST', 'queues/mail/messages', { messages })
    }),
    repeat(250, () => deliver(server, 4, random)),
    repeat(250, () => deliver(server, 3, random)),
  ]
  return {
    async stop() {
      isOver = true
      await Promise.all(running)
    },
  }
}
