/** The nouns of the command line and their verbs: one table, of which `verbs.ts` makes commands. */

export interface Verb {
  /** The `id` of the operation of REST that it is. */
  operation: string
  /** Members of the body that are arguments, in this order. */
  given?: readonly string[]
  /** For people: the member of the answer that has the rows of a table, and its columns. */
  table?: readonly [rows: string, ...columns: string[]]
  /** Asks on a terminal before it deletes. */
  asks?: boolean
  /** In place of the summary of the operation. */
  summary?: string
  /** Creates what is not there, and leaves what is there as it is. */
  ensures?: boolean
}

interface Noun {
  about: string
  verbs: Readonly<Record<string, Verb>>
}

/** The verbs that all settings have. `Many` and `One`: how the ids of their operations end. `holds`: a drop deletes data. */
function settings(Many: string, One: string, holds: boolean, columns: readonly string[]): Noun['verbs'] {
  return {
    list: { operation: `list${Many}`, table: [Many.toLowerCase(), ...columns] },
    get: { operation: `get${One}` },
    put: { operation: `put${One}` },
    ensure: { operation: `put${One}`, ensures: true, summary: 'Create it, or leave the one that exists as it is' },
    update: { operation: `update${One}` },
    drop: { operation: `drop${One}`, asks: holds },
  }
}

const ITEM = ['id', 'member', 'score', 'createdAt', 'occurredAt', 'payload']
const LIMITS = ['mode', 'capacity', 'ttlSeconds', 'forgetEmptySeconds']
const COUNTS = ['ready', 'inFlight', 'delayed', 'blocked', 'dead', 'archived'].map((state) => `counts.${state}`)

/** The command without a noun. */
export const OVERVIEW_VERB: Verb = {
  operation: 'getOverview',
  table: ['troubles', 'kind', 'name', 'count', 'beganAt', 'consumer', 'messageGroup', 'deadLetterQueue', 'error'],
}

export const NOUNS: Readonly<Record<string, Noun>> = {
  groups: {
    about: 'groups of recent items, and members',
    verbs: {
      ...settings('Groups', 'Group', true, ['group', ...LIMITS, 'policy', 'totalAppended', 'createdAt']),
      losses: { operation: 'groupLosses' },
      append: { operation: 'appendItem' },
      recent: { operation: 'recentItems', table: ['items', ...ITEM] },
      item: { operation: 'getItem' },
      'change-score': { operation: 'changeScore' },
      remove: { operation: 'removeItem' },
      clear: { operation: 'clearGroup', asks: true },
      'member-items': { operation: 'memberItems', table: ['items', 'group', ...ITEM] },
      'erase-member': { operation: 'eraseMember', asks: true },
    },
  },
  policies: {
    about: 'the settings of all groups whose names begin with a prefix',
    verbs: {
      ...settings('Policies', 'Policy', false, ['prefix', ...LIMITS]),
      losses: { operation: 'policyLosses' },
    },
  },
  queues: {
    about: 'work queues and their messages',
    verbs: {
      ...settings('Queues', 'Queue', true, ['queue', ...COUNTS, 'oldestAgeSeconds', 'paused', 'isDeadLetterQueue']),
      send: { operation: 'sendMessages', given: ['body'], summary: 'Send a message' },
      pause: { operation: 'pauseQueue' },
      resume: { operation: 'resumeQueue' },
      hold: { operation: 'holdQueue', given: ['seconds'] },
      peek: {
        operation: 'peekMessages',
        table: ['messages', 'id', 'receiveCount', 'deadReceiveCount', 'sentAt', 'visibleAt', 'lastError', 'body'],
      },
      message: { operation: 'getMessage' },
      remove: { operation: 'removeMessage' },
      cancel: { operation: 'cancelMessage' },
      errors: {
        operation: 'queueErrors',
        table: ['errors', 'count', 'firstDeadAt', 'lastDeadAt', 'error'],
      },
      history: {
        operation: 'queueHistory',
        table: [
          'points',
          'endsAt',
          'sent',
          'acked',
          'failed',
          'ready',
          'inFlight',
          'blocked',
          'died',
          'oldestAgeSeconds',
        ],
      },
      receivers: {
        operation: 'queueReceivers',
        table: ['receivers', 'name', 'beganAt', 'lastSeenAt', 'gone', 'inFlight', 'receivedLastMinute'],
      },
      redrive: { operation: 'redriveQueue' },
      promote: { operation: 'promoteMessages', given: ['ids'] },
      purge: { operation: 'purgeQueue', asks: true },
    },
  },
  schedules: {
    about: 'what is sent to queues again and again',
    verbs: settings('Schedules', 'Schedule', false, [
      ...['schedule', 'queue', 'cron', 'everySeconds', 'timeZone', 'nextTickAt', 'lastTickAt', 'lastError'],
    ]),
  },
  feeds: {
    about: 'change feeds, their entries and their consumers',
    verbs: {
      list: {
        operation: 'listFeeds',
        table: ['feeds', 'feed', 'lastSyncId', 'entries', 'unpublished', 'oldestUnpublishedSeconds', 'consumers#'],
      },
      status: { operation: 'getFeedStatus' },
      drop: { operation: 'dropFeed', asks: true },
      changes: { operation: 'getChanges', table: ['changes', 'syncId', 'key', 'version', 'deleted', 'value'] },
      get: { operation: 'getEntry' },
      put: { operation: 'putEntry', given: ['value'] },
      delete: { operation: 'deleteEntry' },
      republish: { operation: 'republishEntries' },
      cursor: { operation: 'getCursor' },
      'move-cursor': { operation: 'moveCursor', given: ['cursor'] },
      'drop-cursor': { operation: 'dropCursor' },
    },
  },
}
