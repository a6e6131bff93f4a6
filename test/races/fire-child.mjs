// One process of the fire. Opens a store of the built library, waits until all are ready, then appends (or changes
// settings and erases) as its task says, and writes down everything that was acknowledged. See fire.ts for the messages.
import { createRequire } from 'node:module'

const { openStore } = createRequire(import.meta.url)('../../dist/src/index.js')

let store
let stopping = false
let slowestMs = 0
const failures = []

const say = (message) => new Promise((resolve) => process.send(message, resolve))

process.on('message', async (message) => {
  try {
    await obey(message)
  } catch (error) {
    note('child', error)
    await say({ type: 'failed', failures })
  }
})
await say({ type: 'loaded' })

async function obey(message) {
  if (message.type === 'open') {
    store = await openStore(message.options)
    await say({ type: 'opened' })
  } else if (message.type === 'go') {
    await Promise.all([appendAll(message.task), changeAll(message.task)])
  } else if (message.type === 'stop') {
    stopping = true
  } else {
    await store.close()
    await say({ type: 'closed' })
    process.disconnect()
  }
}

function note(where, error) {
  failures.push(`${where}: ${error.code ?? error.name}: ${error.message} ${error.cause ? `(${error.cause})` : ''}`)
}

/** Small and repeatable, so that a failing seed can be run again. */
function dice(seed) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return { chance: (p) => next() < p, below: (n) => Math.floor(next() * n) }
}

// ---- appending

async function appendAll(task) {
  if (!task.loops) return
  const records = []
  const removals = []
  await Promise.all(Array.from({ length: task.loops }, (_, loop) => appendLoop(task, loop, records, removals)))
  await say({ type: 'appended', records, removals, failures, slowestMs })
}

async function appendLoop(task, loop, records, removals) {
  const label = `${task.label}.${loop}`
  const { chance, below } = dice(task.seed + loop * 7919)
  let counter = 0
  const next = () => newItem(task, label, `${label}.${counter++}`, chance, below)
  for (let op = 0; op < task.operations; op++) {
    const batch = Array.from({ length: chance(0.6) ? 1 : 2 + below(task.batch) }, next)
    try {
      const [{ group, ...only }] = batch
      const asked = performance.now()
      const items = batch.length === 1 ? [await store.groups.append(group, only)] : await store.groups.appendMany(batch)
      slowestMs = Math.max(slowestMs, performance.now() - asked)
      batch.forEach((item, at) => {
        records.push(recordOf(label, op, item, items[at]))
      })
      if (chance(0.05)) await removeOne(batch[0], items[0], removals)
    } catch (error) {
      note(`append ${label} op ${op}`, error)
    }
  }
}

/** Groups say by their names what happens in them: see FAMILIES in fire.ts. */
function newItem(task, label, n, chance, below) {
  const group = task.groups[below(task.groups.length)]
  const family = group.slice(0, group.indexOf(':'))
  const item = { group, member: label, payload: { n } }
  if (family === 'event') item.eventId = `e${below(task.eventIds)}`
  if (family === 'hist' && chance(0.2)) item.eventId = `e${below(8)}`
  if (family === 'modal' || family === 'wide') item.member = `m${below(30)}`
  if ((family === 'hist' || family === 'wide' || family === 'policy') && chance(0.1)) item.member = ghost(below(4))
  return item
}

function ghost(number) {
  return `ghost-${number}`
}

function recordOf(label, op, item, answer) {
  const { member, payload, eventId = null } = item
  const { appended, slot } = answer
  return { label, op, group: item.group, id: String(answer.id), member, n: payload.n, eventId, appended, slot }
}

async function removeOne(item, answer, removals) {
  if (!item.group.startsWith('hist:') || item.member.startsWith('ghost') || !answer.appended) return
  const removed = await store.groups.remove(item.group, answer.id)
  removals.push({ group: item.group, id: String(answer.id), removed })
}

// ---- changing settings and erasing, until told to stop

async function changeAll(task) {
  if (!task.changes) return
  const { below } = dice(task.seed)
  const settings = []
  const loops = [
    ...[0, 1, 2, 3].map((part) => settingsLoop(task, part, settings)),
    forever('policy', () => store.policies.put('policy:', { capacity: 10 + below(20), mode: 'history' }), 200),
    forever('erase', () => store.groups.eraseMember(ghost(below(4))), 20),
  ]
  await Promise.all(loops)
  await say({ type: 'changed', settings, failures })
}

async function forever(where, work, pauseMs = 5) {
  while (!stopping) {
    try {
      await work()
    } catch (error) {
      note(where, error)
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** Each of four loops has its own groups, so that the changes of a group are written down in their order. */
async function settingsLoop(task, part, settings) {
  const { chance, below } = dice(task.seed + part)
  const changing = task.groups.filter((group) => /^(hist|modal|wide):/.test(group)).slice(0, 100)
  const mine = changing.filter((_, at) => at % 4 === part)
  if (mine.length > 0)
    await forever('settings', () => changeSettings(mine[below(mine.length)], settings, chance, below))
}

async function changeSettings(group, settings, chance, below) {
  const wanted = {
    hist: { capacity: 1 + below(30), mode: 'history' },
    modal: { capacity: 3 + below(12), mode: chance(0.5) ? 'history' : 'distinct' },
    wide: { capacity: 40 + below(40), mode: 'distinct' },
  }[group.slice(0, group.indexOf(':'))]
  const { totalAppended } = await store.groups.put(group, wanted)
  settings.push({ group, totalAppended: String(totalAppended), ...wanted })
}
