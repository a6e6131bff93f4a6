/** The tools of the image's checks: docker as a function, waiting, requests, and what to remove at the end. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { ROOT } from './lib.mjs'

export const PREFIX = `recentn-test-docker-${randomBytes(4).toString('hex')}`

/** Runs a program; resolves to what it said, whatever its exit code is. */
export function run(program, args, { env = {}, timeoutMs = 120_000 } = {}) {
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { ...process.env, ...env }, timeout: timeoutMs, maxBuffer: 2 ** 26 }
    execFile(program, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), stdout: stdout.trim(), stderr: stderr.trim() })
    })
  })
}

/** Runs docker; resolves to its standard output, throws what it said when it fails. */
export async function docker(...args) {
  const { code, stdout, stderr } = await run('docker', args)
  if (code !== 0) throw new Error(`docker ${args.join(' ')}: ${stderr || stdout || code}`)
  return stdout
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The first answer of `ask` that is neither false nor undefined; throws after `seconds`. */
export async function until(what, seconds, ask) {
  for (const end = Date.now() + seconds * 1000; ; await sleep(200)) {
    const answer = await ask()
    if (answer !== false && answer !== undefined) return answer
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`)
  }
}

export function must(condition, what) {
  if (!condition) throw new Error(what)
}

/** A request to a server on `port`, on its own connection; resolves to null when it is not answered. */
export function ask(port, path, { key, method = 'GET', body } = {}) {
  const headers = {
    ...(key && { Authorization: `Bearer ${key}` }),
    ...(body && { 'Content-Type': 'application/json' }),
  }
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path, method, headers, agent: false, timeout: 60_000 }
    const asking = request(options, async (answer) => {
      const text = await answer
        .setEncoding('utf8')
        .reduce((all, chunk) => all + chunk, '')
        .catch(() => '')
      resolve({ status: answer.statusCode, body: text.startsWith('{') ? JSON.parse(text) : text })
    })
    asking.on('timeout', () => asking.destroy())
    asking.on('error', () => resolve(null))
    asking.end(body && JSON.stringify(body))
  })
}

/** The port of this machine that leads to a container's port 3000. */
export async function portOf(container) {
  const [address] = (await docker('port', container, '3000/tcp')).split('\n')
  return Number(address.split(':').at(-1))
}

/** Stops it as `docker stop` does; the exit code, and how long that took. */
export async function stop(container, seconds) {
  const start = Date.now()
  await docker('stop', '--time', String(seconds), container)
  const took = (Date.now() - start) / 1000
  return { code: Number(await docker('inspect', '--format', '{{.State.ExitCode}}', container)), seconds: took }
}

/** Appends and reads again with a key; and without one nothing is answered. */
export async function checkItems(port, key) {
  const items = '/v1/groups/article%3A42/items'
  const before = Number((await ask(port, items, { key }))?.body.totalAppended)
  const appended = await ask(port, items, { key, method: 'POST', body: { member: 'user-7', payload: { n: before } } })
  must(appended?.status === 201, `the append was answered ${JSON.stringify(appended)}`)
  const read = await ask(port, items, { key })
  must(read?.body.totalAppended === String(before + 1), `the read was answered ${JSON.stringify(read)}`)
  const stranger = await ask(port, items)
  must(stranger?.status === 401, `without a key the read was answered ${JSON.stringify(stranger)}`)
}

const undo = []

/** To be done at the end, last one first, whatever happens. */
export function atTheEnd(...args) {
  undo.push(args)
}

export async function cleanUp() {
  for (const args of undo.splice(0).reverse()) await run(...args)
}
