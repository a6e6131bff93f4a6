/** `recentn serve` as a user types it, and as another program starts it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { start } from './steps.mjs'

const READY = /^recentn listens on (\S+), data in .+$/m
const SERVE = ['serve', '--port', '0']

/** Appends and reads by HTTP, and ends in order on SIGTERM: the program with 0, and with npx nothing is left behind. */
export async function checkServe(project, env = {}) {
  await serving(project, 'npx', ['recentn', ...SERVE], env, async ({ process: npx, url, exit }) => {
    npx.kill('SIGTERM')
    await exit
    // npx itself is gone before the server is.
    for (let left = 100; await answers(url); left--) {
      assert.ok(left > 0, 'the server continues without npx')
      await pause(100)
    }
  })
  const program = join(project.folder, 'node_modules', '.bin', 'recentn')
  await serving(project, program, SERVE, env, async ({ process: server, exit, output }) => {
    server.kill('SIGTERM')
    const [code, signal] = await exit
    assert.deepEqual([code, signal], [0, null], output())
  })
}

export async function serving(project, program, args, env, work, ms = 60_000) {
  const server = start(program, args, { cwd: project.folder, env: { ...project.env, ...env } })
  const exit = once(server.process, 'close')
  const timer = setTimeout(() => server.end('SIGKILL'), ms)
  try {
    const url = await ready(server, exit)
    await use(url)
    await work({ ...server, url, exit })
  } finally {
    clearTimeout(timer)
    server.end('SIGKILL')
  }
}

async function use(url) {
  const address = `${url}/v1/groups/article:42/items`
  const headers = { 'Content-Type': 'application/json' }
  const made = await fetch(address, { method: 'POST', headers, body: '{"member": "user-7"}' })
  assert.equal(made.status, 201)
  const { items } = await (await fetch(address)).json()
  assert.equal(items[0].member, 'user-7')
  const page = await fetch(`${url}/`)
  assert.deepEqual([page.status, page.headers.get('Content-Type')?.split(';')[0]], [200, 'text/html'], 'the dashboard')
}

function answers(url) {
  return fetch(`${url}/livez`).then(
    () => true,
    () => false,
  )
}

async function ready(server, exit) {
  let ended = false
  exit.then(() => {
    ended = true
  })
  for (;;) {
    const found = READY.exec(server.output())
    if (found) return found[1]
    if (ended) throw new Error(`it ended before it listened: ${server.output()}`)
    await pause(50)
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
