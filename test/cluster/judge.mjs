/** The verdict: the answers that the processes of a load got, compared with what they received and what is there. */

/** The faults, one sentence each, and the numbers of the run. */
export async function judge(store, names, heard, visibilitySeconds) {
  const faults = heard.flatMap((one) => one.faults)
  const all = (what) => heard.flatMap((one) => one[what])
  judgeQueue(all('sends'), all('receives'), visibilitySeconds * 1000, faults)
  judgeDeletes(all('deletes'), all('receives'), faults)
  await judgeGroups(store, names, all('appends'), faults)
  await judgeFeed(store, names, heard, faults)
  judgeJobs(all('jobs'), faults)
  await judgeDoor(store, names, all('writes'), faults)
  const errors = {}
  for (const one of heard) {
    for (const [key, count] of Object.entries(one.errors)) errors[key] = (errors[key] ?? 0) + count
  }
  const counts = {
    sends: all('sends').filter(({ id }) => id !== undefined).length,
    receives: all('receives').length,
    deletes: all('deletes').filter(({ done }) => done).length,
    appends: all('appends').filter(({ id }) => id !== undefined).length,
    puts: all('puts').filter(({ version }) => version !== undefined).length,
    jobs: all('jobs').length,
    writes: all('writes').filter(({ isDone }) => isDone).length,
  }
  return { faults, errors, counts }
}

/** Codes of calls that may have taken effect. */
const isUnknown = ({ code }) => code === 'outcome_unknown'

function judgeQueue(sends, receives, visibilityMs, faults) {
  const known = new Map(sends.map((send) => [send.body, send]))
  const byId = new Map()
  const ids = new Map()
  for (const { id, body } of sends) {
    if (id === undefined) continue
    if (ids.has(id)) faults.push(`sends: the id ${id} was answered for ${ids.get(id)} and ${body}`)
    ids.set(id, body)
  }
  for (const { id, body } of receives) {
    const send = known.get(body)
    if (send === undefined) faults.push(`receives: ${body} was never sent`)
    else if (send.id === undefined && !isUnknown(send)) faults.push(`sends: ${body} is there in spite of ${send.code}`)
    else if (send.id !== undefined && send.id !== id)
      faults.push(`sends: ${body} was answered ${send.id}, and is ${id}`)
    const before = byId.get(id)
    if (before !== undefined && before !== body) faults.push(`receives: ${id} is ${before} and ${body}`)
    byId.set(id, body)
  }
  const received = new Map()
  for (const { id, body } of receives) received.set(body, (received.get(body) ?? new Set()).add(id))
  for (const [body, own] of received) if (own.size > 1) faults.push(`sends: ${body} is there ${own.size} times`)
  for (const { body, id } of sends)
    if (id !== undefined && !received.has(body)) faults.push(`sends: ${body} (${id}) is lost`)
  // A claim holds from a moment after it was asked for, until its time has passed.
  const claims = new Map()
  for (const receive of receives) claims.set(receive.id, [...(claims.get(receive.id) ?? []), receive])
  for (const [id, own] of claims) {
    own.sort((a, b) => a.asked - b.asked)
    for (let index = 1; index < own.length; index++) {
      if (own[index].got < own[index - 1].asked + visibilityMs) {
        faults.push(`receives: ${id} was held twice, ${Math.round(own[index].got - own[index - 1].asked)} ms apart`)
      }
    }
  }
}

/** A deleted message is never received again. */
function judgeDeletes(deletes, receives, faults) {
  const endedAt = new Map()
  for (const { id, ended, done } of deletes) if (done) endedAt.set(id, ended)
  for (const { id, asked } of receives) {
    if (asked > endedAt.get(id)) faults.push(`deletes: ${id} was received after its delete was acknowledged`)
  }
}

async function judgeGroups(store, names, appends, faults) {
  const stored = new Map()
  for (let number = 0; number < names.groups; number++) {
    const group = `${names.group}${number}`
    let before
    let expected = null
    for (;;) {
      const { items, totalAppended } = await store.groups.recent(group, { limit: 1000, before })
      expected ??= totalAppended - 1n
      for (const { id, member } of items) {
        if (id !== expected) faults.push(`appends: ${group} has ${id} in the place of ${expected}`)
        expected = id - 1n
        if (stored.has(member)) faults.push(`appends: ${member} is there twice`)
        stored.set(member, `${group} ${id}`)
      }
      if (items.length < 1000) break
      before = items.at(-1).id
    }
  }
  for (const { group, member, id, code } of appends) {
    const place = stored.get(member)
    if (id !== undefined && place !== `${group} ${id}`) {
      // The ring keeps the last 10,000 of each group.
      if (place !== undefined || appends.length < 100_000)
        faults.push(`appends: ${member} was answered ${group} ${id}, and is ${place}`)
    }
    if (id === undefined && place !== undefined && !isUnknown({ code }))
      faults.push(`appends: ${member} is there in spite of ${code}`)
  }
}

async function judgeFeed(store, names, heard, faults) {
  const last = new Map()
  const unknown = new Map()
  for (const { puts } of heard) {
    for (const put of puts) {
      if (put.version !== undefined) last.set(put.key, put.n)
      else if (isUnknown(put)) unknown.set(put.key, (unknown.get(put.key) ?? new Set()).add(put.n))
    }
  }
  for (const [key, n] of last) {
    const value = (await store.feeds.get(names.feed, key))?.value
    if (value !== n && !unknown.get(key)?.has(value)) faults.push(`puts: ${key} is ${value}, not ${n}`)
    for (const { seen, isFollower } of heard) {
      if (isFollower && seen[key] !== value)
        faults.push(`changes: a consumer has ${seen[key]} for ${key}, not ${value}`)
    }
  }
}

/** Each committed row of plain SQL is there once, as a message and as an item, in the order of its writer. */
async function judgeDoor(store, names, writes, faults) {
  const known = new Map(writes.map((one) => [one.text, one]))
  const queries = {
    sends:
      'SELECT m.body AS text FROM recentn_queue_messages m JOIN recentn_queues q ON q.id = m.queue_id ' +
      'WHERE q.queue = ? ORDER BY m.sort_major, m.sort_minor, m.id',
    appends: 'SELECT member AS text FROM recentn_items WHERE group_key = ? ORDER BY id',
  }
  for (const [what, sql] of Object.entries(queries)) {
    const rows = await store.dataSource.query(sql, [names.door])
    const found = rows.map(({ text }) => (what === 'sends' ? JSON.parse(text) : text))
    const last = new Map()
    for (const text of found) {
      const { n, isDone, isUnknown } = known.get(text) ?? {}
      if (!isDone && !isUnknown) faults.push(`the door: ${text} is in ${what}, and was not committed`)
      const writer = text.split('-')[0]
      if (n <= (last.get(writer) ?? -1)) faults.push(`the door: ${text} is in ${what} after ${last.get(writer)}`)
      last.set(writer, n)
    }
    const all = new Set(found)
    // The ring keeps the last 10,000.
    if (found.length >= 10_000) continue
    for (const { text, isDone } of writes)
      if (isDone && !all.has(text)) faults.push(`the door: ${text} is not in ${what}`)
  }
}

/** A row may be handled again when its claim could not be ended, but not while its handler runs. */
function judgeJobs(jobs, faults) {
  const byId = new Map()
  for (const job of jobs) byId.set(job.id, [...(byId.get(job.id) ?? []), job])
  for (const [id, own] of byId) {
    own.sort((a, b) => a.began - b.began)
    for (let index = 1; index < own.length; index++) {
      const before = own[index - 1]
      if (own[index].began < before.ended && !before.isLost) faults.push(`polls: ${id} was handled twice at once`)
    }
  }
}
