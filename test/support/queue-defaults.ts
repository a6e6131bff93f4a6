/** A queue that was made without settings. */
export const QUEUE_DEFAULTS = {
  visibilityTimeoutSeconds: 30,
  maxReceives: 5,
  deadLetterQueue: null,
  onAck: 'remove',
  retentionSeconds: null,
  groupConcurrency: null,
  maxMessages: null,
  rateLimit: null,
  groupRateLimit: null,
  holdEndsAt: null,
  paused: false,
  get tag(): string {
    return expect.any(String)
  },
} as const
