/** One example of each body of the queues' routes, for the OpenAPI document. */

export const queueSettings = { visibilityTimeoutSeconds: 60, maxReceives: 5, deadLetterQueue: 'mail-dead' }

export const queueChanges = { visibilityTimeoutSeconds: 60 }

export const queue = {
  queue: 'mail',
  visibilityTimeoutSeconds: 60,
  maxReceives: 5,
  deadLetterQueue: 'mail-dead',
  onDelete: 'remove',
  retentionSeconds: null,
  paused: false,
  createdAt: '2026-11-20T08:30:00.000Z',
}

export const pausedQueue = { ...queue, paused: true }

export const queueStatus = {
  ...queue,
  isDeadLetterQueue: false,
  counts: { ready: 12, inFlight: 3, delayed: 1, dead: 0, archived: 0 },
  oldestAgeSeconds: 4,
}

const deadLetters = {
  ...queueStatus,
  queue: 'mail-dead',
  visibilityTimeoutSeconds: 30,
  maxReceives: 5,
  deadLetterQueue: null,
  isDeadLetterQueue: true,
  counts: { ready: 0, inFlight: 0, delayed: 0, dead: 0, archived: 0 },
  oldestAgeSeconds: null,
}

export const queuePage = { queues: [queueStatus, deadLetters], nextAfter: null }

export const redrive = { max: 100 }

export const moved = { moved: 100 }

export const noFields = {}

export const purge = { dryRun: false }

const newMessage = { body: { to: 'a@example.org' }, delaySeconds: 5, dedupId: 'welcome-7', messageGroup: 'tenant-3' }

export const messages = { messages: [newMessage, { body: 'anything', priority: 10 }] }

export const sent = { id: '1042' }

export const sentMany = { ids: ['1042', '1043'] }

export const receive = { max: 10, waitSeconds: 20 }

const receiptHandle = 'AAAAAAAABBKcWb0SSTvJtSXJzQfPzkUvd3vZpg'

export const received = {
  messages: [
    {
      id: '1042',
      body: { to: 'a@example.org' },
      receiveCount: 1,
      receiptHandle,
      sentAt: '2026-11-21T10:00:00.250Z',
      visibleAt: '2026-11-21T10:01:05.300Z',
      lastError: null,
      messageGroup: 'tenant-3',
      priority: 0,
    },
  ],
}

export const receipts = { receiptHandles: [receiptHandle] }

export const release = { ...receipts, delaySeconds: 30, error: 'mail server says 451' }

export const extend = { ...receipts, visibilityTimeoutSeconds: 60 }

const failed = [{ receiptHandle, code: 'stale_receipt' }]

export const deletedReceipts = { deleted: [receiptHandle], failed: [] }

export const releasedReceipts = { released: [receiptHandle], failed: [] }

export const extendedReceipts = { extended: [], failed }

export const peekedMessage = {
  id: '1042',
  state: 'in-flight',
  body: { to: 'a@example.org' },
  receiveCount: 1,
  maxReceives: 5,
  sentAt: '2026-11-21T10:00:00.250Z',
  visibleAt: '2026-11-21T10:01:05.300Z',
  lastReceivedAt: '2026-11-21T10:00:05.300Z',
  archivedAt: null,
  deadLetterFrom: null,
  lastError: null,
  messageGroup: 'tenant-3',
  priority: 0,
}

const readyMessage = { ...peekedMessage, state: 'ready', receiveCount: 0, lastReceivedAt: null }

export const messagePage = { messages: [readyMessage], nextAfter: null }
