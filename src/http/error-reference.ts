/**
 * The meaning of each code and what to do about it: the page `/docs/errors` of the REST interface, and docs/errors.md. Apart
 * from the table of codes, so that the client's bundle does without.
 */
import { ERRORS, type ErrorCode } from '../shared/errors'

export interface ErrorEntry {
  readonly means: string
  readonly fix: string
}

/** Backquotes mark code; there is no other markup. */
export const ERROR_REFERENCE: Readonly<Record<ErrorCode, ErrorEntry>> = {
  invalid_input: {
    means: 'An argument, a parameter, a body or an option is not valid. Nothing was stored.',
    fix: 'Correct the request: `errors` (in the library `faults`) names every fault at once, up to 100.',
  },
  malformed_json: {
    means: 'The body of the request is not well-formed JSON, or not UTF-8. Nothing was stored.',
    fix: 'Send one JSON value in UTF-8. The message says where the parser stopped.',
  },
  group_not_found: {
    means: 'No group has this name.',
    fix: 'Append an item or put the settings of the group: either creates it.',
  },
  item_not_found: {
    means:
      'The window of the group has no item with this id: the item was removed, has expired, or newer items pushed it out.',
    fix: 'Treat the item as gone. Its id is never used again.',
  },
  policy_not_found: {
    means: 'No policy has this prefix.',
    fix: 'List the policies. A policy is found by its whole prefix, not by the name of a group.',
  },
  queue_not_found: {
    means: 'No queue has this name. With faults, it is the queue that a schedule is to send to.',
    fix: 'Create the queue first, with `ensure`.',
  },
  message_not_found: {
    means:
      'The queue has no message with this id (it was acknowledged, removed, or moved to a dead-letter queue), or none waits with this key.',
    fix: 'Treat the message as gone, or look for it in the dead-letter queue.',
  },
  stale_receipt: {
    means:
      'The claim that the receipt handle names has ended: the message was acknowledged, returned or removed, or its visibility ' +
      'timeout expired and another receiver has claimed it. Nothing was changed.',
    fix:
      'Discard what was done for this claim where that is possible, and leave the message to its receiver. Raise the ' +
      'visibility timeout, or extend claims in time; workers do.',
  },
  invalid_receipt: {
    means: 'The text is not a receipt handle, or it is one of another queue. Nothing was changed.',
    fix: 'Use the `receiptHandle` of a message as it was received from this queue.',
  },
  schedule_not_found: {
    means: 'No schedule has this name, or it sends to a queue that the key may not see.',
    fix: 'List the schedules. An app creates its schedules when it starts.',
  },
  settings_changed: {
    means:
      'The request named a tag in `If-Match` (in the library `ifTag`), and the settings have changed since, or do not exist. ' +
      'Nothing was changed.',
    fix: 'Read the settings again, decide whether the change still makes sense, and send it with the new tag.',
  },
  already_exists: {
    means:
      'Only over HTTP: a `PUT` with `If-None-Match: *` creates, and there is one of this name already. It is unchanged; `existing` shows it.',
    fix: 'Nothing, where it only has to exist. To change it, send a `PATCH`, or a `PUT` without the header.',
  },
  queue_in_use: {
    means: 'Another queue names this one as its dead-letter queue, so it cannot be dropped.',
    fix: 'Change the `deadLetterQueue` of the other queue, then drop this one. The message names it, unless access is confined to a prefix.',
  },
  queue_full: {
    means:
      'The queue has as many messages as its `maxMessages` allows, or the send would bring more. Nothing was sent.',
    fix: 'Retry after the time in `Retry-After`. Add workers, look for dead and delayed messages, or raise `maxMessages`.',
  },
  too_many: {
    means:
      'Access is confined to a prefix, and as many queues, schedules, policies or feeds as the server allows have names that ' +
      'begin with it. Nothing was created.',
    fix: 'Drop those that are not needed. The message names the setting of the server, which its operator may raise.',
  },
  dead_letter_queue_not_found: {
    means: 'The settings of the queue name a dead-letter queue that does not exist.',
    fix: 'Create a dead-letter queue before the queues that name it.',
  },
  dead_letter_cycle: {
    means: 'With these settings a dead letter would return to the queue in which it died.',
    fix: 'Choose a dead-letter queue that does not lead back to this queue.',
  },
  feed_not_found: {
    means: 'No feed has this name.',
    fix: 'Put an entry: a feed begins with its first entry.',
  },
  entry_not_found: {
    means: 'The feed has no entry with this key, or the entry was deleted.',
    fix: 'Treat the entry as gone.',
  },
  consumer_not_found: {
    means: 'The feed has no stored cursor for this consumer.',
    fix: 'Nothing is left to delete. A consumer begins when its cursor is stored for the first time.',
  },
  cursor_expired: {
    means:
      'Deletions after this cursor have been removed, or the cursor is beyond the last sync id: an older copy of the ' +
      'database has taken over. A consumer that continued from here would miss changes.',
    fix: 'Discard the local copy and read the feed again from cursor 0.',
  },
  unauthorized: {
    means: 'The request has no API key, or its key is not valid or was revoked.',
    fix: 'Send `Authorization: Bearer rk_…` with a key that is in force.',
  },
  forbidden: {
    means:
      'The key, or the access rule of the app, does not allow this request. Without keys, only local requests are allowed, and none that a web page of another origin sends.',
    fix: 'Use a key with the scope and the prefix that the request needs.',
  },
  overloaded: {
    means:
      'The server or the store has as many pending requests as it accepts, or no database connection became free within ' +
      '`connectionTimeoutSeconds`. Nothing was stored.',
    fix:
      'Retry after the time in `Retry-After` (in the library `retryAfterSeconds`), with fewer calls at once. If no connection ' +
      'becomes free, look for transactions that stay open, and for store calls inside your own transactions.',
  },
  sequence_exhausted: {
    means: 'The sequence has given out its last number, 9223372036854775807. A group stays readable.',
    fix: 'Use another name, or delete the group and start again.',
  },
  conflict: {
    means: 'The transaction met a deadlock or a lock timeout on every attempt and was rolled back. Nothing was stored.',
    fix: 'Retry the whole transaction.',
  },
  database_unavailable: {
    means:
      'The database does not answer, or it cannot do this at present. Its disk may be full, it may take no writes, have ' +
      'stopped the statement, or have a damaged table or file. Nothing was stored.',
    fix:
      'Retry later. If it lasts, check the address, the network, the disk and the log of the database; the log of ' +
      'recentn has what the database said.',
  },
  database_refused: {
    means:
      'The database answers but cannot be used: a wrong password, a missing right, no such database, an unusable file, or no SQLite driver.',
    fix: 'Follow the message, which names the reason. `recentn doctor` checks the rest.',
  },
  outcome_unknown: {
    means: 'The connection was lost during the commit, so the write may or may not be stored.',
    fix: 'Retry a call that is safe to repeat: one with an `eventId` or a `dedupId`, or a put. Otherwise read first.',
  },
  schema_missing: {
    means: 'The database has no recentn tables, or they were emptied with the rows that recentn needs.',
    fix: 'Run `recentn migrate`, or run the migrations of `recentn/typeorm` in your DataSource.',
  },
  schema_outdated: {
    means: 'The recentn tables are older than this version of recentn.',
    fix: 'Run `recentn migrate`, or run the migrations of `recentn/typeorm` in your DataSource.',
  },
  schema_too_new: {
    means: 'A newer version of recentn has migrated the tables.',
    fix: 'Run the newer version.',
  },
  closed: {
    means: 'The store was closed before the call. Nothing was stored.',
    fix: 'Make no calls after `close()`. A client may retry: another process may answer.',
  },
  draining: {
    means: 'The server is about to stop and asks its load balancer to send requests elsewhere.',
    fix: 'Send requests to another server, or wait until this one is back.',
  },
  misuse: {
    means:
      'The call would wait for itself, or for something that is missing. Examples are a store call inside a transaction of ' +
      'its database, `once()` or `stop()` inside a handler, and `drain` of a queue without a worker. Nothing was stored.',
    fix: "Change the program: no retry helps. Inside a transaction, use the operations that it was given, or `join: 'ambient'`.",
  },
  internal: {
    means: 'Something failed inside the server. The answer does not say what; the log of the server does.',
    fix: 'Look for the `X-Request-Id` of the answer in the log of the server, and report the error.',
  },
  unreachable: {
    means: 'Only from the client: no answer came. A write may or may not be stored.',
    fix: 'Check the address and the network. Retry a call that is safe to repeat.',
  },
  unexpected_answer: {
    means:
      "Only from the client: the answer has no code. It is a proxy's, for example, or a refusal that only repeats its HTTP status.",
    fix: 'Check `baseUrl`. The error has the `status`, and its message the beginning of the answer.',
  },
}

/** The page as HTML, an entry for each code under its anchor. It loads nothing and needs no script. */
export function errorsHtml(): string {
  const entries = Object.entries(ERROR_REFERENCE).map(([code, { means, fix }]) => {
    const { title, status } = ERRORS[code as ErrorCode]
    return `<section id="${code}"><h2>${code}</h2>\n<p><b>${status}</b> ${html(title)}</p>\n<p>${html(means)}</p>\n<p>${html(fix)}</p></section>`
  })
  return (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<meta name="color-scheme" content="light dark"><title>recentn: errors</title></head><body>\n<main><h1>Errors</h1>\n` +
    `${entries.join('\n')}\n</main></body></html>\n`
  )
}

function html(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return escaped.replaceAll(/`([^`]*)`/g, '<code>$1</code>')
}

/** The same as Markdown: docs/errors.md. */
export function errorsMarkdown(): string {
  const entries = Object.entries(ERROR_REFERENCE).map(([code, { means, fix }]) => {
    const { title, status } = ERRORS[code as ErrorCode]
    return `## ${code}\n\n**${status}** ${title}\n\n${means}\n\n${fix}\n`
  })
  return `# Errors\n\n${MARKDOWN_BEGINNING}\n${entries.join('\n')}`
}

const MARKDOWN_BEGINNING = `Every refusal of the REST interface, of the library and of the client has one of these codes. One that only repeats its HTTP
status has none, and the type \`about:blank\`: no route, no such method, a body that is too large. A running server
shows this page at \`/docs/errors\`, and the \`type\` of a problem leads to the entry of its code. The page is made from
\`src/http/error-reference.ts\` by \`node scripts/errors-page.cjs\`.
`
