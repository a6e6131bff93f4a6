// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** What each operation takes and answers. */
import type {
  Deleted,
  DeletedReceipts,
  ExtendedReceipts,
  MessagePage,
  Moved,
  PeekedMessage,
  Queue,
  QueuePage,
  QueueStatus,
  Received,
  ReleasedReceipts,
  SentOneOrMany,
} from './answers'
import type {
  Extend,
  Purge,
  QueueChanges,
  QueueSettings,
  Receipts,
  Receive,
  Redrive,
  Release,
  Sending,
} from './requests'

type Nothing = Record<never, never>

export interface QueueOperations {
  /** The queues, by name: `GET /v1/queues` */
  listQueues: {
    path: Nothing
    query: {
      /** Only queues whose name begins with this. */
      prefix?: string | undefined
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before. */
      after?: string | undefined
    }
    body: undefined
    answer: QueuePage
  }
  /** The attributes of a queue, how many messages it has in each state, and how old the oldest is: `GET /v1/queues/{queue}` */
  getQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: undefined
    answer: QueueStatus
  }
  /** Create a queue, or replace all of its settings: `PUT /v1/queues/{queue}` */
  putQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: QueueSettings
    answer: Queue
  }
  /** Drop a queue with its messages: `DELETE /v1/queues/{queue}` */
  deleteQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Change some settings of a queue: `PATCH /v1/queues/{queue}` */
  updateQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: QueueChanges
    answer: Queue
  }
  /** Send dead messages back to where they came from: `POST /v1/queues/{queue}/redrive` */
  redriveQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Redrive
    answer: Moved
  }
  /** Drop what is ready and delayed: `POST /v1/queues/{queue}/purge` */
  purgeQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Purge
    answer: Deleted
  }
  /** Create a queue where there is none: `POST /v1/queues/{queue}/ensure` */
  ensureQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: QueueSettings
    answer: Queue
  }
  /** Pause a queue: `POST /v1/queues/{queue}/pause` */
  pauseQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Record<string, never>
    answer: Queue
  }
  /** Resume a paused queue: `POST /v1/queues/{queue}/resume` */
  resumeQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Record<string, never>
    answer: Queue
  }
  /** Send a message, or up to 1000 of them: `POST /v1/queues/{queue}/messages` */
  sendMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Sending
    answer: SentOneOrMany
  }
  /** Look at the messages in one state without claiming them: `GET /v1/queues/{queue}/messages` */
  peekMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: {
      /** Only messages in this state. `ready` when left out. */
      state?: 'ready' | 'in-flight' | 'delayed' | 'dead' | 'archived' | undefined
      /**
       * `preview`: in place of each body the first 200 characters of its JSON, as a string; `…` follows where more is
       * there. `value` when left out.
       */
      bodies?: 'value' | 'preview' | undefined
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before: opaque. */
      after?: string | undefined
    }
    body: undefined
    answer: MessagePage
  }
  /** Look at one message, in whatever state: `GET /v1/queues/{queue}/messages/{id}` */
  getMessage: {
    path: {
      /** The queue. */
      queue: string
      /** The id of the message. */
      id: bigint
    }
    query: Nothing
    body: undefined
    answer: PeekedMessage
  }
  /** Remove one message, in whatever state: `DELETE /v1/queues/{queue}/messages/{id}` */
  deleteMessage: {
    path: {
      /** The queue. */
      queue: string
      /** The id of the message. */
      id: bigint
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Claim messages: `POST /v1/queues/{queue}/receive` */
  receiveMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Receive
    answer: Received
  }
  /** Done: remove, or archive, received messages: `POST /v1/queues/{queue}/delete` */
  deleteReceived: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Receipts
    answer: DeletedReceipts
  }
  /** Failed: hand received messages out again after a delay, or never: `POST /v1/queues/{queue}/release` */
  releaseReceived: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Release
    answer: ReleasedReceipts
  }
  /** Hold received messages for so long, counted from now: `POST /v1/queues/{queue}/extend` */
  extendReceived: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Extend
    answer: ExtendedReceipts
  }
}
