/** The results of feeds, and their JSON text for REST, which never parses the values that the store keeps. */

import type { ChangeBase, Changes, Consumer, Entry, FeedPage, FeedStatus, PutEntry } from '../shared/feed-types'
import { jsonTextOf } from '../shared/json'
import { timeOrNull } from '../shared/time-text'
import { giveJson, jsonBy, parsedBy } from './json'

const text = JSON.stringify

/** A change as a consumer reads it. */
export class ChangeResult implements ChangeBase {
  constructor(
    readonly syncId: bigint,
    readonly key: string,
    readonly value: unknown,
    readonly version: number | null,
    readonly deleted: boolean,
  ) {}
}
giveJson(ChangeResult, parsedBy(renderChange))

export const asEntry = jsonBy<Entry>(parsedBy(renderEntry))
export const asChanges = jsonBy<Changes>(parsedBy(renderChanges))
export const asConsumer = jsonBy<Consumer>(consumerBody)
export const asFeed = jsonBy<FeedStatus>(feedBody)

export function renderEntry({ key, value, version, syncId, deleted, updatedAt }: Entry): string {
  return (
    `{"key":${text(key)},"value":${jsonTextOf(value)},"version":${version},` +
    `"syncId":${syncId === null ? 'null' : `"${syncId}"`},"deleted":${deleted},"updatedAt":${timeOrNull(updatedAt)}}`
  )
}

export function renderPutEntries(entries: readonly PutEntry[]): string {
  return `{"entries":[${entries.map(({ key, version }) => `{"key":${text(key)},"version":${version}}`).join(',')}]}`
}

export function renderChanges({ changes, cursor, hasMore }: Changes): string {
  return `{"changes":[${changes.map(renderChange).join(',')}],"cursor":"${cursor}","hasMore":${hasMore}}`
}

function renderChange({ syncId, key, value, version, deleted }: ChangeResult): string {
  return (
    `{"syncId":"${syncId}","key":${text(key)},"value":${jsonTextOf(value)},` +
    `"version":${version},"deleted":${deleted}}`
  )
}

export function renderConsumer(consumer: Consumer): string {
  return text(consumerBody(consumer))
}

export function renderFeed(feed: FeedStatus): string {
  return text(feedBody(feed))
}

export function renderFeedPage({ feeds, nextAfter }: FeedPage): string {
  return text({ feeds: feeds.map(feedBody), nextAfter })
}

function consumerBody({ consumer, cursor, lag }: Consumer) {
  return { consumer, cursor: String(cursor), lag }
}

function feedBody({ feed, lastSyncId, entries, unpublished, oldestUnpublishedSeconds, consumers }: FeedStatus) {
  const status = { lastSyncId: String(lastSyncId), entries, unpublished, oldestUnpublishedSeconds }
  return { feed, ...status, consumers: consumers.map(consumerBody) }
}
