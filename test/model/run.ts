/** One run of the model: each operation on the store and on the oracle, and after each all answers compared. */
import { type Recent, RecentnError, type Store } from '../../src/index'
import { sweepGroups } from '../support/opened'
import { GROUPS, type ItemShape, MEMBERS, type Operation, PREFIXES } from './operations'
import { type Answer, Oracle, REFUSED } from './oracle'

export interface Bench {
  store: Store
  clock: { offsetMs: number }
}

/** Names of a run begin with a unique prefix, so that runs share a database without meeting. */
export class Run {
  readonly #oracle = new Oracle()
  /** The answer of each tag. */
  readonly #tags = new Map<string, string>()
  #payload = 0

  constructor(
    readonly bench: Bench,
    readonly name: string,
  ) {}

  get #groups() {
    return this.bench.store.groups
  }

  #named = (short: string) => `${this.name}:${short}`

  async play(operations: readonly Operation[]): Promise<void> {
    try {
      for (const operation of operations) {
        await this.#step(operation)
        await this.#compareAll()
      }
    } finally {
      for (const prefix of PREFIXES) await this.bench.store.policies.drop(this.#named(prefix))
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
      case 'sweep':
        return this.#sweep()
      case 'pass':
        this.bench.clock.offsetMs += operation.seconds * 1000
        oracle.nowSeconds += operation.seconds
        return this.#everyMember()
      case 'putPolicy': {
        const { prefix, kind: _, ...policy } = operation
        oracle.policies.set(this.#named(prefix), { ...policy, ttlSeconds: null })
        await this.bench.store.policies.put(this.#named(prefix), policy)
        return this.#everyMember()
      }
      case 'deletePolicy': {
        const there = oracle.policies.delete(this.#named(operation.prefix))
        expect(await this.bench.store.policies.drop(this.#named(operation.prefix))).toBe(there)
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
    operation: Extract<Operation, { kind: 'remove' | 'clear' | 'put' | 'delete' | 'read' }>,
  ): Promise<void> {
    const oracle = this.#oracle
    const lastId = oracle.groups.get(group)?.lastId ?? -1n
    const idAt = (back: number) => (lastId - BigInt(back) < 0n ? 0n : lastId - BigInt(back))
    switch (operation.kind) {
      case 'remove':
        expect(await this.#groups.remove(group, idAt(operation.back))).toBe(oracle.remove(group, idAt(operation.back)))
        return
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

  async #sweep(): Promise<void> {
    await sweepGroups(this.bench.store)
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
    const named = items.map((item) => ({
      ...item,
      group: this.#named(item.group),
      member: item.member === null ? null : this.#named(item.member),
      payload: this.#payload++,
    }))
    const expected = this.#oracle.appendMany(named)
    const got = await append(named).catch((error: unknown) => {
      if (error instanceof RecentnError && error.code === 'invalid_input') return REFUSED as typeof REFUSED
      throw error
    })
    expect(got === REFUSED ? got : got.map(({ id, appended }) => ({ id, appended }))).toEqual(expected)
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

  /** Every group as a whole; and no tag may belong to two answers. */
  async #compareAll(): Promise<void> {
    const names = GROUPS.map(this.#named)
    const answers = await this.#groups.recentMany(names, { limit: 100 })
    expect(answers.map(shown)).toEqual(names.map((name) => this.#oracle.recent(name, 100)))
    for (const { tag, ...answer } of answers) {
      const text = JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
      const key = `${answer.group} ${tag}`
      expect(this.#tags.get(key) ?? text).toBe(text)
      this.#tags.set(key, text)
    }
  }
}

function shown({ capacity, mode, totalAppended, items, nextBefore }: Recent): Answer {
  return {
    capacity,
    mode,
    totalAppended,
    items: items.map(({ id, member, eventId, payload }) => ({ id, member, eventId, payload: payload as number })),
    nextBefore,
  }
}

function byGroupAndId(a: { group: string; id: bigint }, b: { group: string; id: bigint }): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
