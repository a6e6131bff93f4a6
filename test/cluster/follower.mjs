/** A reader that follows a feed by cursor, and keeps what it has seen. */
import { must, sleep, until } from '../../scripts/docker-tools.mjs'

export class Follower {
  count = 0
  faults = []
  #cursor = 0n
  #last = 0n
  /** The number at which each key was seen last. */
  #seen = new Map()
  #isGoing = true
  #following

  /** `isWhole`: each number of the feed stays, so that none may be missing. */
  constructor(store, feed, { isWhole, waitSeconds }) {
    Object.assign(this, { store, feed, isWhole, waitSeconds })
    this.#following = this.#follow()
  }

  async #follow() {
    while (this.#isGoing) {
      const options = { after: this.#cursor, waitSeconds: this.waitSeconds, limit: 100 }
      try {
        const { changes, cursor } = await this.store.feeds.changes(this.feed, options)
        for (const change of changes) this.#see(change)
        if (cursor !== this.#last) this.faults.push(`the cursor is ${cursor}, and ${this.#last} was seen last`)
        this.#cursor = cursor
        if (changes.length === 0) await sleep(2)
      } catch (error) {
        // While the server is away.
        if (error.code !== 'database_unavailable') this.faults.push(`${error.stack}`)
        await sleep(200)
      }
    }
  }

  #see({ syncId, key }) {
    if (syncId <= this.#last) this.faults.push(`${syncId} came after ${this.#last}`)
    if (this.isWhole && syncId !== this.#last + 1n)
      this.faults.push(`${syncId} came after ${this.#last}: some are missing`)
    this.#last = syncId
    this.#seen.set(key, syncId)
    this.count++
  }

  /** Throws unless it has seen, in the end, every entry that the primary has, by its number. */
  async judge(primary) {
    const { lastSyncId } = await primary.feeds.status(this.feed)
    await until(
      `a reader of ${this.feed} is at its end`,
      30,
      () => this.faults.length > 0 || this.#cursor === lastSyncId,
    )
    let entries = 0
    for (let after = 0n; ; ) {
      const { changes, cursor, hasMore } = await primary.feeds.changes(this.feed, { after, limit: 1000 })
      for (const { key, syncId } of changes) {
        const seen = this.#seen.get(key)
        if (seen !== syncId) this.faults.push(`${key} has number ${syncId}, and was seen at ${seen}`)
      }
      entries += changes.length
      after = cursor
      if (!hasMore) break
    }
    must(entries > 0 && this.count >= entries, `${this.feed} has ${entries} entries, and ${this.count} were read`)
    must(this.faults.length === 0, `a reader of ${this.feed}: ${this.faults.slice(0, 10).join('\n')}`)
  }

  stop() {
    this.#isGoing = false
    return this.#following
  }
}
