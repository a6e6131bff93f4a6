/**
 * The ring as a repository: checks what it is given and runs each operation in one transaction of its session.
 * It owns recentn_groups, recentn_items and the policy tables; the head row of a group is the lock of all that is in it.
 */
import type { DataSource, EntityManager } from 'typeorm'
import type { Session, Tx } from '../../database/engine'
import { sessionOf } from '../../database/session'
import { RecentnError } from '../../errors'
import { MEMBER_RULES } from '../../fields/groups'
import { checkedPage, PREFIX_PAGE_RULES } from '../../fields/rules'
import { asPolicy } from '../../results/groups'
import { forgetWriters, hasArrived, sweepWriters, type Writer } from '../writers'
import { type Appended, appendBatch, appendItems, type Outcome } from './append'
import * as check from './check'
import { eraseMember } from './erasure'
import { sweep } from './expiry'
import { clearGroup, deleteGroup, getGroup, listGroups, putGroup, removeItem } from './groups'
import { lockedGroups } from './heads'
import { isQuick, Layouts } from './layouts'
import { memberItems } from './members'
import { FewIdsLeft } from './numbers'
import type { Call, ReadRequest } from './page'
import { deletePolicy, getPolicy, listPolicies, PolicyCache, putPolicy } from './policies'
import { type Outcome as ReadOutcome, readQuickly } from './quick-read'
import { readRecent } from './read'
import type { NewRow } from './ring'
import { appendedItemOf } from './rows'
import type * as Recent from './types'

const WRITERS_SWEEP_MS = 3600 * 1000

export class RecentRepository implements Recent.Groups {
  readonly #session: Session
  readonly #policies: PolicyCache
  readonly #layouts = new Layouts()
  #writersSweptAt = Number.NEGATIVE_INFINITY

  /** On a DataSource each call is a transaction of its own; on an EntityManager it is part of that manager's. */
  constructor(source: DataSource | EntityManager | Session, policies = new PolicyCache(10)) {
    this.#session = sessionOf(source)
    this.#policies = policies
  }

  async append(
    group: string,
    item: Recent.NewItem = {},
    options?: Recent.PayloadOptions,
  ): Promise<Recent.AppendedItem> {
    const row = check.checkedItem(group, item)
    const given = check.checkedPayloads(options)
    try {
      const [appended] = await this.appendRows([row], given)
      return appended as Recent.AppendedItem
    } catch (error) {
      throw atTheItem(error)
    }
  }

  async appendMany(
    items: readonly Recent.NewGroupItem[],
    options?: Recent.PayloadOptions,
  ): Promise<Recent.AppendedItem[]> {
    return this.appendRows(check.checkedItems(items), check.checkedPayloads(options))
  }

  /** Appends checked rows, all or nothing. */
  protected async appendRows(
    rows: readonly NewRow[],
    { payloads }: Recent.PayloadOptions,
  ): Promise<Recent.AppendedItem[]> {
    const results = await this.#session.write((tx) => appendItems(tx, this.#policies, rows))
    return results.map(({ row, appended }) => appendedItemOf(row, appended, payloads))
  }

  /**
   * Appends the checked rows of many requests in one transaction, each request all or nothing: an outcome for each, or
   * an error of one of them or of all, and then nothing is done. Of a writer one batch runs at a time. `retryMs`: how
   * long it may take after a deadlock or lock timeout before that is an error.
   */
  async appendBatch(requests: readonly (readonly NewRow[])[], writer: Writer, retryMs?: number): Promise<Outcome[]> {
    writer.next()
    const options = { arrived: (tx: Tx) => hasArrived(tx, writer), retryMs }
    const run = (isCareful: boolean) =>
      this.#session.write((tx) => appendBatch(tx, this.#policies, requests, writer, isCareful), options)
    try {
      return await run(false)
    } catch (error) {
      if (!(error instanceof FewIdsLeft)) throw error
      return run(true)
    }
  }

  /** One of these requests, with the error that is its own. */
  appendAlone(rows: readonly NewRow[], writer: Writer): Promise<Appended[]> {
    writer.next()
    const arrived = (tx: Tx) => hasArrived(tx, writer)
    return this.#session.write((tx) => appendItems(tx, this.#policies, rows, writer), { arrived })
  }

  /** Those of the groups whose heads somebody else has locked. */
  lockedGroups(groups: ReadonlySet<string>): Promise<Set<string>> {
    return this.#session.write((tx) => lockedGroups(tx, groups))
  }

  /** Removes what the batches of these writers have left behind. */
  forgetWriters(writers: readonly Writer[]): Promise<void> {
    return forgetWriters(this.#session, writers)
  }

  async recent(group: string, options: Recent.RecentOptions = {}): Promise<Recent.Recent> {
    const [page] = await this.read(check.checkedReads([group], options))
    return page as Recent.Recent
  }

  async recentIfChanged(group: string, tag: string, options: Recent.RecentOptions = {}): Promise<Recent.Recent | null> {
    const unlessTag = check.checkedTag(tag)
    const requests = check.checkedReads([group], options).map((request) => ({ ...request, unlessTag }))
    const [page] = await this.read(requests)
    return page as Recent.Recent | null
  }

  async recentMany(
    groups: readonly string[],
    options: Omit<Recent.RecentOptions, 'before'> = {},
  ): Promise<Recent.Recent[]> {
    return (await this.read(check.checkedReads(groups, options))) as Recent.Recent[]
  }

  /** The pages of checked requests, all at one moment; null where a page still has the tag that the caller has. */
  protected read(requests: readonly ReadRequest[]): Promise<(Recent.Recent | null)[]> {
    return this.#session.read((reader) => readRecent(reader, this.#policies, this.#layouts, requests))
  }

  /** Whether `readTogether` may answer the call, as far as is known. */
  isQuick(call: Call): boolean {
    return isQuick(this.#layouts, call)
  }

  /** The pages of many callers' requests in one statement, or what to do to get them: an outcome for each call. */
  readTogether(calls: readonly Call[]): Promise<ReadOutcome[]> {
    return this.#session.read((reader) => readQuickly(reader, this.#policies, this.#layouts, calls))
  }

  async clear(group: string): Promise<{ deleted: number }> {
    check.checkName('group', group)
    return { deleted: await this.#session.write((tx) => clearGroup(tx, this.#policies, group)) }
  }

  async remove(group: string, id: bigint): Promise<boolean> {
    check.checkName('group', group)
    check.checkId(id)
    return this.#session.write((tx) => removeItem(tx, this.#policies, group, id))
  }

  async get(group: string): Promise<Recent.Group | null> {
    check.checkName('group', group)
    return this.#session.read((reader) => getGroup(reader, this.#policies, group))
  }

  async put(
    group: string,
    settings: Recent.OwnSettings = {},
    options: Recent.Replacing<Recent.OwnSettings> = {},
  ): Promise<Recent.Group & { created: boolean }> {
    check.checkSettings(group, settings, options)
    return this.#session.write((tx) => putGroup(tx, this.#policies, group, settings, options.replaces))
  }

  async delete(group: string): Promise<boolean> {
    check.checkName('group', group)
    return this.#session.write((tx) => deleteGroup(tx, group))
  }

  async list(options: Recent.Page & { prefix?: string | undefined } = {}): Promise<Recent.GroupPage> {
    const page = checkedPage(options, PREFIX_PAGE_RULES)
    return this.#session.read((reader) => listGroups(reader, this.#policies, page))
  }

  async memberItems(member: string, options: Recent.MemberOptions = {}): Promise<Recent.MemberItems> {
    check.checkName('member', member)
    const page = checkedPage(options, MEMBER_RULES)
    return this.#session.read((reader) => memberItems(reader, this.#policies, member, page))
  }

  async eraseMember(member: string, options: { prefix?: string | undefined } = {}): Promise<{ deleted: number }> {
    const prefix = check.checkedErasure(member, options)
    const deleted = await this.#session.whole((session) => eraseMember(session, this.#policies, member, prefix))
    return { deleted }
  }

  async getPolicy(prefix: string): Promise<Recent.Policy | null> {
    check.checkName('prefix', prefix)
    return this.#session.read((reader) => getPolicy(reader, prefix))
  }

  async putPolicy(
    prefix: string,
    settings: Recent.PolicySettings,
    options: Recent.Replacing<Recent.PolicySettings> = {},
  ): Promise<Recent.Policy & { created: boolean }> {
    const policy = check.checkedPolicy(prefix, settings, options)
    const created = await this.#session.write((tx) => putPolicy(tx, policy, options.replaces))
    this.#policies.forget()
    const { capacity, mode, ttlSeconds } = policy
    return asPolicy({ prefix, capacity, mode, ttlSeconds, created })
  }

  async deletePolicy(prefix: string): Promise<boolean> {
    check.checkName('prefix', prefix)
    const deleted = await this.#session.write((tx) => deletePolicy(tx, prefix))
    this.#policies.forget()
    return deleted
  }

  async listPolicies(options: Recent.Page & { prefix?: string | undefined } = {}): Promise<Recent.PolicyPage> {
    const page = checkedPage(options, PREFIX_PAGE_RULES)
    return this.#session.read((reader) => listPolicies(reader, page))
  }

  /** Deletes some of what has expired: what the sweeper calls again and again. */
  async sweep(): Promise<{ deleted: number; more: boolean }> {
    if (performance.now() - this.#writersSweptAt > WRITERS_SWEEP_MS) {
      await sweepWriters(this.#session)
      this.#writersSweptAt = performance.now()
    }
    return this.#session.whole((session) => sweep(session, this.#policies))
  }
}

/** A fault at `/0/member` of a list of one is at `/member` of the one. */
function atTheItem(error: unknown): unknown {
  if (!(error instanceof RecentnError) || error.code !== 'invalid_input') return error
  const faults = error.faults.map((fault) => ({ ...fault, pointer: fault.pointer?.replace(/^\/0/, '') }))
  return new RecentnError(error.code, error.message.replace('/0/', '/'), { faults })
}
