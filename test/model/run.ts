/**
 * One run of the model: each operation on one of the stores and on the oracle, and all answers of some stores compared after each.
 */
import { type Recent, RecentnError, type Store, type Transaction } from '../../src/index'
import { sweepGroups } from '../support/opened'
import { GROUPS, type ItemShape, MEMBERS, type Operation, PREFIXES, type Step } from './operations'
import { type Answer, Oracle, REFUSED } from './oracle'

export interface Bench {
  /** Each remembers for itself, as processes do. */
  stores: readonly Store[]
  clock: { offsetMs: number }
}

/** More than the largest capacity, and few enough that a page may be remembered. */
const WHOLE = 16

/** Names of a run begin with a unique prefix, so that runs share a database without meeting. */
export class Run {
  readonly #oracle = new Oracle()
  /** The answer of each tag. */
  readonly #tags = new Map<string, string>()
  #payload = 0
  /** The store whose turn it is. */
  #store: Store

  constructor(
    readonly bench: Bench,
    readonly name: string,
  ) {
    this.#store = bench.stores[0] as Store
  }

  get #groups() {
    return this.#store.groups
  }

  #named = (short: string) => `${this.name}:${short}`

  async play(steps: readonly Step[]): Promise<void> {
    try {
      for (const { by, operation, looking } of steps) {
        this.#store = this.bench.stores[by] as Store
        await this.#step(operation)
        for (const at of looking) await this.#compareAll(this.bench.stores[at] as Store)
      }
      for (const store of this.bench.stores) await this.#compareAll(store)
    } finally {
      for (const prefix of PREFIXES) await this.#store.policies.drop(this.#named(prefix))
      for (const group of GROUPS) await this.#groups.drop(this.#named(group))
    }
  }

  async #step(operation: Operation): Promise<void> {
    const oracle = this.#oracle
    oracle.look()
    switch (operation.kind) {
      case 'append':
        return this.#append([operation.item], ([one]) => {
          const { group, ...item } = one as ItemShape
          return this.#groups.append(group, item).then((appended) => [appended])
        })
      case 'appendMany':
        return this.#append(operation.items, (items) => this.#groups.appendMany(items))
      case 'transact':
        return this.#transact(operation)
      case 'sweep':
        return this.#sweep()
      case 'pass':
        this.bench.clock.offsetMs += operation.seconds * 1000
        oracle.nowSeconds += operation.seconds
        return this.#everyMember()
      case 'putPolicy': {
        const { prefix, kind: _, ...policy } = operation
        oracle.policies.set(this.#named(prefix), { ...policy, ttlSeconds: null })
        // The others may go by older policies for seconds, unless they have changed some too.
        for (const { policies } of this.#fromTurn) await policies.put(this.#named(prefix), policy)
        return this.#everyMember()
      }
      case 'dropPolicy': {
        const there = oracle.policies.delete(this.#named(operation.prefix))
        for (const store of this.#fromTurn) {
          const isFirst = store === this.#store
          expect(await store.policies.drop(this.#named(operation.prefix))).toBe(there && isFirst)
        }
        return
      }
      case 'memberItems':
        return this.#memberItems(operation.member, operation.limit)
      case 'list':
        return this.#list(operation.limit)
      case 'erase':
        return this.#erase(operation.member)
      case 'readMany': {
        const names = operation.groups.map(this.#named)
        const exclude = this.#members(operation.exclude)
        const answers = await this.#groups.recentMany(names, { limit: operation.limit, exclude })
        expect(answers.map((answer) => answer.group)).toEqual(names)
        expect(answers.map(shown)).toEqual(names.map((name) => oracle.recent(name, operation.limit, null, exclude)))
        return
      }
      default:
        return this.#onGroup(this.#named(operation.group), operation)
    }
  }

  async #onGroup(
    group: string,
    operation: Extract<Operation, { kind: 'remove' | 'changeScore' | 'clear' | 'put' | 'delete' | 'read' }>,
  ): Promise<void> {
    const oracle = this.#oracle
    const lastId = oracle.groups.get(group)?.lastId ?? -1n
    const idAt = (back: number) => (lastId - BigInt(back) < 0n ? 0n : lastId - BigInt(back))
    switch (operation.kind) {
      case 'remove':
        expect(await this.#groups.remove(group, idAt(operation.back))).toBe(oracle.remove(group, idAt(operation.back)))
        return
      case 'changeScore': {
        const { by } = operation
        const member = this.#named(operation.member)
        const changed = await this.#groups.changeScore(group, member, by).catch(refusedOnly)
        const got = changed === REFUSED || changed === null ? changed : { id: changed.id, score: changed.score }
        expect(got).toEqual(oracle.changeScore(group, member, by))
        return
      }
      case 'clear': {
        const shownBefore = oracle.window(group).length
        // Rows that a policy or the time hides may count, or not.
        expect((await this.#groups.clear(group)).deleted).toBeGreaterThanOrEqual(shownBefore)
        oracle.clear(group)
        return
      }
      case 'put': {
        const created = oracle.put(group, operation.own)
        expect(await this.#groups.put(group, operation.own)).toMatchObject({
          ...oracle.settingsOf(group),
          group,
          created,
          totalAppended: oracle.recent(group).totalAppended,
        })
        return
      }
      case 'delete':
        expect(await this.#groups.drop(group)).toBe(oracle.groups.delete(group))
        return
      case 'read': {
        const { limit, back } = operation
        const before = back === null ? null : idAt(back)
        const exclude = this.#members(operation.exclude)
        const answer = await this.#groups.recent(group, { limit, before: before ?? undefined, exclude })
        expect(shown(answer)).toEqual(oracle.recent(group, limit, before, exclude))
      }
    }
  }

  /** All stores, that whose turn it is first. */
  get #fromTurn(): Store[] {
    return [this.#store, ...this.bench.stores.filter((store) => store !== this.#store)]
  }

  /** A transaction reads its own changes; one that is undone leaves nothing, and no store remembers anything of it. */
  async #transact({ items, group, isUndone }: Extract<Operation, { kind: 'transact' }>): Promise<void> {
    const named = items.map((item) => this.#item(item))
    const before = this.#oracle.copy()
    const expected = this.#oracle.appendMany(named)
    const undone = new Error('undone')
    const work = async (tx: Transaction) => {
      expect((await tx.groups.appendMany(named)).map(answerOf)).toEqual(expected)
      const name = this.#named(group)
      expect(shown(await tx.groups.recent(name))).toEqual(this.#oracle.recent(name))
      if (isUndone) throw undone
    }
    const error = await this.#store.transaction(work).catch((reason: unknown) => reason)
    if (expected === REFUSED) expect(error).toMatchObject({ code: 'invalid_input' })
    else expect(error).toBe(isUndone ? undone : undefined)
    if (isUndone) this.#oracle.backTo(before)
  }

  async #sweep(): Promise<void> {
    await sweepGroups(this.#store)
    for (const group of [...this.#oracle.groups.keys()]) {
      if ((await this.#groups.get(group)) !== null) continue
      expect([group, this.#oracle.mayBeForgotten(group)]).toEqual([group, true])
      this.#oracle.groups.delete(group)
    }
  }

  #members(members: readonly string[]): string[] {
    return members.map(this.#named)
  }

  async #append(
    items: readonly ItemShape[],
    append: (items: (ItemShape & { payload: number })[]) => Promise<{ id: bigint; appended: boolean }[]>,
  ): Promise<void> {
    const named = items.map((item) => this.#item(item))
    const expected = this.#oracle.appendMany(named)
    const got = await append(named).catch(refusedOnly)
    expect(got === REFUSED ? got : got.map(answerOf)).toEqual(expected)
  }

  #item({ group, member, ...item }: ItemShape) {
    const name = member === null ? null : this.#named(member)
    return { group: this.#named(group), member: name, ...item, payload: this.#payload++ }
  }

  /** Changes without a write must happen here too. */
  async #everyMember(): Promise<void> {
    for (const member of MEMBERS) await this.#memberItems(member, 1000)
  }

  async #memberItems(member: string, limit: number): Promise<void> {
    const found: { group: string; id: bigint }[] = []
    let before: string | undefined
    do {
      const page = await this.#groups.memberItems(this.#named(member), { limit, before })
      expect(page.items.length).toBeLessThanOrEqual(limit)
      found.push(...page.items.map(({ group, id }) => ({ group, id })))
      before = page.nextBefore ?? undefined
    } while (before !== undefined)
    expect(found.sort(byGroupAndId)).toEqual(this.#oracle.memberItems(this.#named(member)).sort(byGroupAndId))
  }

  async #erase(member: string): Promise<void> {
    const name = this.#named(member)
    const shownBefore = this.#oracle.memberItems(name).length
    expect((await this.#groups.eraseMember(name)).deleted).toBeGreaterThanOrEqual(shownBefore)
    this.#oracle.erase(name)
  }

  async #list(limit: number): Promise<void> {
    const found: unknown[] = []
    let after: string | undefined
    do {
      const page = await this.#groups.list({ prefix: this.#named(''), limit, after })
      found.push(...page.groups.map(({ createdAt: _, ...group }) => group))
      after = page.nextAfter ?? undefined
    } while (after !== undefined)
    const names = [...this.#oracle.groups.keys()].sort()
    expect(found).toEqual(
      names.map((group) => ({
        group,
        ...this.#oracle.settingsOf(group),
        own: this.#oracle.groups.get(group)?.own,
        policy: this.#oracle.policyOf(group),
        tag: expect.any(String),
        totalAppended: this.#oracle.recent(group).totalAppended,
      })),
    )
  }

  /** Every group as a whole, from memory or not; and no tag may belong to two answers. */
  async #compareAll({ groups }: Store): Promise<void> {
    const names = GROUPS.map(this.#named)
    const answers = await groups.recentMany(names, { limit: WHOLE })
    expect(answers.map(shown)).toEqual(names.map((name) => this.#oracle.recent(name, WHOLE)))
    for (const { tag, ...answer } of answers) {
      const text = JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
      const key = `${answer.group} ${tag}`
      expect(this.#tags.get(key) ?? text).toBe(text)
      this.#tags.set(key, text)
    }
  }
}

function refusedOnly(error: unknown): typeof REFUSED {
  if (error instanceof RecentnError && error.code === 'invalid_input') return REFUSED
  throw error
}

function answerOf({ id, appended }: { id: bigint; appended: boolean }) {
  return { id, appended }
}

function shown({ capacity, mode, totalAppended, items, nextBefore }: Recent): Answer {
  return {
    capacity,
    mode,
    totalAppended,
    items: items.map(({ id, member, eventId, score, payload }) => ({
      ...{ id, member, eventId, score },
      payload: payload as number,
    })),
    nextBefore,
  }
}

function byGroupAndId(a: { group: string; id: bigint }, b: { group: string; id: bigint }): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
