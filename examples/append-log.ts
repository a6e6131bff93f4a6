/**
 * Appends the requests of a web server's access log to a running recentn server: a group for each path, its readers as members.
 *
 *   RECENTN_KEY=rk_… node append-log.js http://127.0.0.1:3000 access.log.2.gz access.log.1
 *
 * The log goes through the client in batches, in order. Each item has an event id made of its line, so a batch whose answer
 * was lost is sent again without being stored twice, and so is a whole log that was cut off. A line that the server refuses,
 * such as one with a path that is too long for a name, is reported, and the rest of its batch is sent without it.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { createGunzip } from 'node:zlib'
import { type Client, createClient, type NewGroupItem, RecentnError } from 'recentn/client'

const BATCH = 500

export interface Appended {
  lines: number
  appended: number
  groups: number
}

/** `report` hears of each line that could not be appended. */
export async function appendLog(
  client: Client,
  files: readonly string[],
  report: (sentence: string) => void = console.error,
): Promise<Appended> {
  const groups = new Set<string>()
  const sum = { lines: 0, appended: 0 }
  for (const file of files) {
    const batch = new Batch(client, basename(file), report)
    for await (const line of linesOf(file)) {
      if (line.trim() === '') continue
      sum.lines++
      const item = itemOf(line)
      if (item === null) report(`${file}: no line of an access log: ${JSON.stringify(line.slice(0, 80))}`)
      else await batch.add(item, line)
    }
    await batch.send()
    for (const group of batch.groups) groups.add(group)
    sum.appended += batch.appended
  }
  return { ...sum, groups: groups.size }
}

class Batch {
  readonly groups = new Set<string>()
  appended = 0
  #added = 0
  #items: NewGroupItem[] = []

  constructor(
    private readonly client: Client,
    private readonly file: string,
    private readonly report: (sentence: string) => void,
  ) {}

  async add(item: NewGroupItem, line: string): Promise<void> {
    // A rotated log has other lines under the same name and number.
    const digest = createHash('sha256').update(line).digest('base64url').slice(0, 16)
    this.#items.push({ ...item, eventId: `${this.file}:${++this.#added}:${digest}` })
    if (this.#items.length === BATCH) await this.send()
  }

  async send(): Promise<void> {
    let items = this.#items
    this.#items = []
    while (items.length > 0) {
      try {
        await this.client.groups.appendMany(items)
        for (const { group } of items) this.groups.add(group)
        this.appended += items.length
        return
      } catch (error) {
        // All or nothing: without the refused items the rest is taken.
        const refused = refusedBy(error)
        for (const [index, detail] of refused) this.report(`${items[index]?.eventId} ${detail}`)
        items = items.filter((_, index) => !refused.has(index))
      }
    }
  }
}

/** The faults of a batch's items, by index. Throws an error that is about something else. */
function refusedBy(error: unknown): Map<number, string> {
  const faults = error instanceof RecentnError && error.code === 'invalid_input' ? error.faults : []
  const refused = new Map<number, string>()
  for (const { pointer, detail } of faults) {
    const [, index, field] = /^\/items\/(\d+)\/(.*)$/.exec(pointer ?? '') ?? []
    if (index !== undefined) refused.set(Number(index), `${field} ${detail}`)
  }
  if (refused.size === 0) throw error
  return refused
}

/** Address, identity, user, time, request, status and size; in the combined format also the referrer and the user agent. */
const LINE = /^(\S+) \S+ .+? \[([^\]]+)\] "(\S+) (\S+)[^"]*" (\d{3}) (?:\d+|-)(?: "[^"]*" "((?:[^"\\]|\\.)*)")?/

/** Null for a line of another format. */
function itemOf(line: string): NewGroupItem | null {
  const [, member, time, method, target, status, userAgent = '-'] = LINE.exec(line) ?? []
  const occurredAt = timeOf(time)
  if (target === undefined || occurredAt === null) return null
  const payload = { method, status: Number(status), userAgent: userAgent === '-' ? null : userAgent }
  return { group: target.split('?')[0] as string, member, occurredAt, payload }
}

/** Reads a time such as `17/May/2015:10:05:03 +0000`. */
function timeOf(time = ''): Date | null {
  const at = new Date(time.replace(/^(\d+)\/(\w+)\/(\d+):/, '$1 $2 $3 '))
  return Number.isNaN(at.getTime()) ? null : at
}

async function* linesOf(file: string): AsyncGenerator<string, void, undefined> {
  const bytes = createReadStream(file)
  const text = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  if (text !== bytes) bytes.on('error', (error) => text.destroy(error))
  let rest = ''
  for await (const chunk of text.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}

async function main([baseUrl = 'http://127.0.0.1:3000', ...files]: readonly string[]): Promise<void> {
  const client = createClient({ baseUrl, key: process.env.RECENTN_KEY })
  const { lines, appended, groups } = await appendLog(client, files)
  console.log(`${lines} lines, ${appended} appended to ${groups} groups`)
}

if (require.main === module) main(process.argv.slice(2))
