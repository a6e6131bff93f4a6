/**
 * Redis as people use it for this: a list of JSON strings, LPUSH and LTRIM; for "each member once" and for the highest scores a
 * sorted set, ZADD and ZREMRANGEBYRANK. ioredis with auto-pipelining on one connection, so that what is sent first is done first, and
 * the number of the call orders the items.
 */
import Redis, { type ChainableCommander } from 'ioredis'
import { WINDOW } from '../items'
import type { Contender, NewItem, OpenRing, Ring, ServerName, StoredItem } from '../types'

const LAST = WINDOW - 1

async function open(server: ServerName, { urls, purpose, fresh }: OpenRing): Promise<Ring> {
  const redis = new Redis(urls[server] as string, { enableAutoPipelining: true })
  if (fresh) await redis.flushall()
  if (purpose === 'distinct' || purpose === 'top') return sortedSets(redis, purpose === 'top')
  return lists(redis, purpose === 'erase')
}

function textOf({ member, payload }: NewItem): string {
  return JSON.stringify({ member, payload, createdAt: new Date().toISOString() })
}

/** With `membersGroups`, a set for each member is kept by hand: Redis has no other way to find a member's items. */
function lists(redis: Redis, membersGroups: boolean): Ring {
  let calls = 0
  const append = async (group: string, item: NewItem): Promise<number> => {
    const order = calls++
    const pushed = redis.lpush(group, textOf(item))
    await redis.ltrim(group, 0, LAST)
    await pushed
    return order
  }
  const appendMany = async (items: readonly (NewItem & { group: string })[]) => {
    const pipeline = redis.pipeline()
    calls += items.length
    for (const item of items) {
      pipeline.lpush(item.group, textOf(item)).ltrim(item.group, 0, LAST)
      if (membersGroups) pipeline.sadd(`groups-of:${item.member}`, item.group)
    }
    await done(pipeline)
  }
  return {
    append,
    appendMany,
    recent: async (group) => parsed(await redis.lrange(group, 0, LAST)),
    recentMany: async (groups) => {
      const pipeline = redis.pipeline()
      for (const group of groups) pipeline.lrange(group, 0, LAST)
      return (await done(pipeline)).map((texts) => parsed(texts as string[]))
    },
    erase: (member) => erase(redis, member),
    close: async () => redis.disconnect(),
  }
}

function parsed(texts: string[]): StoredItem[] {
  return texts.map((text) => JSON.parse(text) as StoredItem)
}

async function done(pipeline: ChainableCommander): Promise<unknown[]> {
  const answers = (await pipeline.exec()) ?? []
  return answers.map(([error, value]) => {
    if (error) throw error
    return value
  })
}

/** Reads each group of the member's set, then removes by value what is the member's. */
async function erase(redis: Redis, member: string): Promise<number> {
  const key = `groups-of:${member}`
  const groups = await redis.smembers(key)
  let erased = 0
  for (let at = 0; at < groups.length; at += 500) {
    const names = groups.slice(at, at + 500)
    const reading = redis.pipeline()
    for (const name of names) reading.lrange(name, 0, LAST)
    const removing = redis.pipeline()
    const answers = await done(reading)
    answers.forEach((texts, index) => {
      for (const text of texts as string[]) {
        if ((JSON.parse(text) as StoredItem).member === member) removing.lrem(names[index] as string, 0, text)
      }
    })
    for (const count of await done(removing)) erased += Number(count)
  }
  await redis.del(key)
  return erased
}

/** The member, and when it was seen or its highest score; there is no room for a payload in a sorted set. */
function sortedSets(redis: Redis, isTop: boolean): Ring {
  let calls = 0
  const seen = (words: string[]) =>
    words.flatMap((member, at) => (at % 2 ? [] : [{ member, payload: null, score: Number(words[at + 1]) }]))
  return {
    append: async (group, { member, score }) => {
      const order = calls++
      const added = isTop ? redis.zadd(group, 'GT', score ?? 0, member) : redis.zadd(group, order, member)
      await redis.zremrangebyrank(group, 0, -WINDOW - 1)
      await added
      return order
    },
    appendMany: null,
    recent: async (group) => seen(await redis.zrevrange(group, 0, LAST, 'WITHSCORES')),
    recentMany: async (groups) => {
      const pipeline = redis.pipeline()
      for (const group of groups) pipeline.zrevrange(group, 0, LAST, 'WITHSCORES')
      return (await done(pipeline)).map((members) => seen(members as string[]))
    },
    close: async () => redis.disconnect(),
  }
}

const common = { how: 'LPUSH + LTRIM, ioredis with enableAutoPipelining, no MULTI', gapless: false, unsound: false }

export const redis: Contender = {
  ...common,
  name: 'redis',
  title: 'Redis, no persistence',
  server: 'redis',
  open: (options) => open('redis', options),
}

export const redisAlways: Contender = {
  ...common,
  name: 'redis-always',
  title: 'Redis, appendfsync always',
  server: 'redisAlways',
  open: (options) => open('redisAlways', options),
}
