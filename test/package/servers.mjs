/** The database servers of a run, in a process beside it, and databases on them. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** `found`: of each engine its `url`, or the `reasons` why it has none. */
export async function startServers(root) {
  const loader = join(root, 'test', 'support', 'run-typescript.cjs')
  const args = ['--require', loader, join(root, 'test', 'package', 'server.ts')]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] })
  const exit = once(child, 'close')
  const lines = createInterface({ input: child.stdout })
  const [line] = await Promise.race([once(lines, 'line'), exit])
  if (typeof line !== 'string') throw new Error('the servers could not be looked for')
  return {
    found: JSON.parse(line),
    stop: async () => {
      child.stdin.end()
      await exit
    },
  }
}

/** The engines without which the run fails, as for `npm test`. */
export function requiredEngines() {
  const names = (process.env.REQUIRE_ENGINES ?? '').split(',').map((name) => name.trim())
  return names.filter((name) => name !== '')
}

/** Runs `work` with the URL of a new, empty database. */
export async function withDatabase(root, serverUrl, work) {
  const { createConnection } = createRequire(join(root, 'package.json'))('mysql2/promise')
  const name = `recentn_${randomBytes(8).toString('hex')}`
  const execute = async (statement) => {
    const connection = await createConnection({ uri: serverUrl.replace(/^mariadb:/, 'mysql:') })
    await connection.query(statement).finally(() => connection.destroy())
  }
  await execute(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
  try {
    const url = new URL(serverUrl)
    url.pathname = `/${name}`
    return await work(url.toString())
  } finally {
    await execute(`DROP DATABASE ${name}`)
  }
}
