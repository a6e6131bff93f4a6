/**
 * The ring as a repository: checks what it is given and runs each operation in one transaction of its session.
 * It owns recentn_groups, recentn_items and the policy tables; the head row of a group is the lock of all that is in it.
 */
import type { DataSource, EntityManager } from 'typeorm'
import { sessionOf } from '../../database/attached/attach'
import type { Session, Tx } from '../../database/engine'
import { MEMBER_RULES } from '../../fields/groups'
import { checkedPage, PREFIX_PAGE_RULES } from '../../fields/rules'
import { RecentnError } from '../../shared/errors'
import type * as Recent from '../../shared/group-types'
import type { Form, PayloadAs } from '../../shared/types'
import { alone, type Runnable, type Runner } from '../runners'
import { warnOfOthers } from '../settings'
import { APPENDS } from './append'
import * as check from './check'
import { eraseMember } from './erasure'
import * as groups from './groups'
import { isQuick } from './layouts'
import { groupLosses } from './losses'
import { MEMBER_ITEMS, readItem } from './members'
import { GroupMemory } from './memory'
import type { ReadRequest } from './page'
import { policiesOn } from './policy-settings'
import { QUICK_READS } from './quick-read'
import { LONG_READS } from './read'
import { type Appended, appendedItemOf, itemOf } from './rows'

export class RecentRepository implements Recent.Groups {
  readonly #session: Session
  readonly #memory: GroupMemory
  readonly #runner: Runner<GroupMemory>
  /** On the same session and memory: a group follows the policies that its transaction has changed. */
  readonly policies: Recent.Policies

  /**
   * On a DataSource each call is its own transaction; on an EntityManager it is part of that manager's. Without a
   * `runner` each operation runs by itself.
   */
  constructor(source: DataSource | EntityManager | Session, memory = new GroupMemory(), runner?: Runner<GroupMemory>) {
    this.#session = sessionOf(source)
    this.#memory = this.#session.inTransaction ? memory.forTransaction() : memory
    this.#runner = runner ?? alone(this.#session, this.#memory)
    this.policies = policiesOn(this.#session, this.#memory)
  }

  append<Payload = unknown, Asked extends Form = 'value'>(
    group: string,
    item: Recent.NewItem<NoInfer<Payload>> = {},
    options?: Recent.PayloadOptions<Asked>,
  ): Promise<Recent.AppendedItem<PayloadAs<Payload, Asked>>> {
    return new Promise<Recent.AppendedItem>((resolve, reject) => {
      const row = check.checkedItem(group, item)
      const { payloads } = check.checkedPayloads(options)
      // One promise an append: the caller makes its item of what was committed.
      this.#runner.hand(APPENDS, [row], {
        resolve: ([one]) => resolve(appendedItemOf(one as Appended, payloads)),
        reject: (error) => reject(atTheItem(error)),
      })
    }) as Promise<Recent.AppendedItem<PayloadAs<Payload, Asked>>>
  }

  appendMany<Payload = unknown, Asked extends Form = 'value'>(
    items: readonly Recent.NewGroupItem<NoInfer<Payload>>[],
    options?: Recent.PayloadOptions<Asked>,
  ): Promise<Recent.AppendedItem<PayloadAs<Payload, Asked>>[]> {
    return new Promise((resolve, reject) => {
      const rows = check.checkedItems(items)
      const { payloads } = check.checkedPayloads(options)
      const itemOf = (one: Appended) => appendedItemOf(one, payloads) as Recent.AppendedItem<PayloadAs<Payload, Asked>>
      this.#runner.hand(APPENDS, rows, { resolve: (appended) => resolve(appended.map(itemOf)), reject })
    })
  }

  #write<T>(groups: readonly string[], work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#session.write((tx) => {
      this.#memory.changes(tx, groups)
      return work(tx)
    })
  }

  async recent<Payload = unknown, Asked extends Recent.PayloadForm = 'value'>(
    group: string,
    options: Recent.RecentOptions<Asked> = {},
  ): Promise<Recent.Recent<PayloadAs<Payload, Asked>>> {
    const [page] = await this.#read(check.checkedReads([group], options))
    return page as Recent.Recent<PayloadAs<Payload, Asked>>
  }

  async recentIfChanged<Payload = unknown, Asked extends Recent.PayloadForm = 'value'>(
    group: string,
    tag: string,
    options: Recent.RecentOptions<Asked> = {},
  ): Promise<Recent.Recent<PayloadAs<Payload, Asked>> | null> {
    const unlessTag = check.checkedTag(tag)
    const requests = check.checkedReads([group], options).map((request) => ({ ...request, unlessTag }))
    const [page] = await this.#read(requests)
    return page as Recent.Recent<PayloadAs<Payload, Asked>> | null
  }

  async recentMany<Payload = unknown, Asked extends Recent.PayloadForm = 'value'>(
    groups: readonly string[],
    options: Omit<Recent.RecentOptions<Asked>, 'before'> = {},
  ): Promise<Recent.Recent<PayloadAs<Payload, Asked>>[]> {
    return (await this.#read(check.checkedReads(groups, options))) as Recent.Recent<PayloadAs<Payload, Asked>>[]
  }

  /** The pages of checked requests, all at one moment; null where a page still has the tag that the caller has. */
  async #read(requests: readonly ReadRequest[]): Promise<(Recent.Recent | null)[]> {
    const call = { requests, again: false }
    const outcome = isQuick(this.#memory.layouts, call) ? await this.#run(QUICK_READS, call) : 'alone'
    return typeof outcome === 'object' ? outcome : this.#run(LONG_READS, requests)
  }

  #run<Request, Result>(operation: Runnable<GroupMemory, Request, Result>, request: Request): Promise<Result> {
    return new Promise((resolve, reject) => this.#runner.hand(operation, request, { resolve, reject }))
  }

  async item<Payload = unknown>(
    group: string,
    id: bigint,
    options: Recent.PayloadOptions = {},
  ): Promise<Recent.Item<Payload> | null> {
    check.checkItem(group, id, options)
    const { policies } = this.#memory
    const found = await this.#session.read((reader) => readItem(reader, policies, group, id, options))
    return found as Recent.Item<Payload> | null
  }

  async changeScore<Payload = unknown>(
    group: string,
    member: string,
    by: number,
    options: Recent.PayloadOptions = {},
  ): Promise<Recent.Item<Payload> | null> {
    check.checkScoreChange(group, member, by, options)
    const row = await this.#write([group], (tx) => groups.changeScore(tx, this.#memory.policies, group, member, by))
    return row && (itemOf(row, options.payloads) as Recent.Item<Payload>)
  }

  async clear(group: string): Promise<{ deleted: number }> {
    check.checkName('group', group)
    return { deleted: await this.#write([group], (tx) => groups.clearGroup(tx, this.#memory.policies, group)) }
  }

  async remove(group: string, id: bigint): Promise<boolean> {
    check.checkItem(group, id)
    return this.#write([group], (tx) => groups.removeItem(tx, this.#memory.policies, group, id))
  }

  async get(group: string): Promise<Recent.Group | null> {
    check.checkName('group', group)
    return this.#session.read((reader) => groups.getGroup(reader, this.#memory.policies, group))
  }

  async put(
    group: string,
    settings: Recent.OwnSettings = {},
    options: Recent.IfTag = {},
  ): Promise<Recent.Group & { created: boolean }> {
    check.checkSettings(group, settings, options)
    return this.#write([group], (tx) => groups.putGroup(tx, this.#memory.policies, group, settings, options))
  }

  async update(group: string, changes: Recent.GroupChanges, options: Recent.IfTag = {}): Promise<Recent.Group> {
    check.checkChanges(group, changes, options)
    return this.#write([group], (tx) => groups.updateGroup(tx, this.#memory.policies, group, changes, options))
  }

  async ensure(group: string, settings: Recent.OwnSettings = {}): Promise<Recent.Group & { created: boolean }> {
    check.checkSettings(group, settings)
    // A plain read takes no lock that appends would wait for. In a transaction it may show an old snapshot.
    const there = this.#session.inTransaction ? null : await this.get(group)
    const ensured =
      there === null
        ? await this.#write([group], (tx) => groups.ensureGroup(tx, this.#memory.policies, group, settings))
        : Object.assign(there, { created: false })
    warnOfOthers('group', group, ensured.own, settings)
    return ensured
  }

  async losses(group: string, settings: Recent.OwnSettings = {}): Promise<Recent.Losses> {
    check.checkSettings(group, settings)
    return groupLosses(this.#session, this.#memory.policies, group, settings)
  }

  async drop(group: string): Promise<boolean> {
    check.checkName('group', group)
    return this.#write([group], (tx) => groups.dropGroup(tx, group))
  }

  async list(options: Recent.ListOptions = {}): Promise<Recent.GroupPage> {
    const page = checkedPage(options, PREFIX_PAGE_RULES)
    return this.#session.read((reader) => groups.listGroups(reader, this.#memory.policies, page))
  }

  async memberItems<Payload = unknown>(
    member: string,
    options: Recent.MemberOptions = {},
  ): Promise<Recent.MemberItems<Payload>> {
    check.checkName('member', member)
    const page = checkedPage(options, MEMBER_RULES)
    return (await this.#run(MEMBER_ITEMS, { member, ...page })) as Recent.MemberItems<Payload>
  }

  async eraseMember(member: string, options: { prefix?: string | undefined } = {}): Promise<{ deleted: number }> {
    const prefix = check.checkedErasure(member, options)
    return { deleted: await eraseMember(this.#session, this.#memory, member, prefix) }
  }
}

/** A fault at `/0/member` of a list of one is at `/member` of the one. */
function atTheItem(error: unknown): unknown {
  if (!(error instanceof RecentnError) || error.code !== 'invalid_input') return error
  const faults = error.faults.map((fault) => ({ ...fault, pointer: fault.pointer?.replace(/^\/0/, '') }))
  return new RecentnError(error.code, error.message.replace('/0/', '/'), { faults })
}
