/**
 * A member that is cut off from the others has no majority, and still answers its clients. A process that has only this
 * member says so to its load balancer, and one with all members in its URL goes to another one.
 */
import { randomBytes } from 'node:crypto'
import { ask, must, until } from '../../scripts/docker-tools.mjs'
import { ChildProcess } from './child-process.mjs'

/** A member is suspected after five seconds, and a write that hangs on it ends after two. */
const SOON_SECONDS = 20
const STATEMENT_SECONDS = 2

export async function withoutMajority(nodes) {
  const database = `majority_${randomBytes(3).toString('hex')}`
  await nodes.query(1, `CREATE DATABASE ${database}`)
  const options = { poolSize: 4, statementTimeoutSeconds: STATEMENT_SECONDS, isServed: true }
  const several = new ChildProcess('opening.mjs', { ...options, name: 'several', url: nodes.urlOfAll(database) })
  const alone = new ChildProcess('opening.mjs', { ...options, name: 'alone', url: nodes.url(1, database) })
  const append = (port) => ask(port, '/v1/groups/g/items', { method: 'POST', body: {} })
  const ready = (port) => ask(port, '/readyz')
  const status = async (what, answer, expected) => {
    const got = await answer
    must(got?.status === expected, `${what}: ${JSON.stringify(got)} in place of ${expected}`)
    return got.body
  }
  try {
    const ports = []
    for (const one of [several, alone]) {
      await one.hear('ready', 30)
      one.tell('open')
      const { error, port } = await one.hear('opened', 60)
      must(error === undefined, error)
      ports.push(port)
      await status(`${one.name} is ready`, ready(port), 200)
      await status(`${one.name} appends`, append(port), 201)
    }
    const [ofSeveral, ofAlone] = ports
    await nodes.cut(1, 'nodes')
    // Without a probe, by its own statements alone.
    await until('the one with several hosts appends again', SOON_SECONDS, async () => {
      await append(ofSeveral)
      const before = Date.now()
      const isStored = (await append(ofSeveral))?.status === 201
      return isStored && Date.now() - before < 1000
    })
    await status('the one with several hosts is ready', ready(ofSeveral), 200)
    await until(
      'the one with a single host is not ready',
      SOON_SECONDS,
      async () => (await ready(ofAlone))?.status === 503,
    )
    alone.tell('ping')
    const { error } = await alone.hear('pinged', 10)
    must(/has no majority of its group: 2 of 3 members/.test(error), `its store gives the reason ${error}`)
    await nodes.heal(1, 'nodes')
    await nodes.rejoined(1)
    await until(
      'the one with a single host is ready again',
      SOON_SECONDS,
      async () => (await ready(ofAlone))?.status === 200,
    )
    await status('the one with a single host appends again', append(ofAlone), 201)
  } finally {
    for (const one of [several, alone]) one.end()
  }
}
