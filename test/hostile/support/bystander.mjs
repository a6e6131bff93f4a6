/**
 * A client that has nothing to do with an attack and asks the server for little things all the time, in a process
 * apart, so that what keeps the attacker busy is not taken for a wait. Nor is it a wait of the server's making while the
 * machine has no processor for the server, or for the bystander. A line to its standard input ends it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import http from 'node:http'

const [url, pid] = process.argv.slice(2)
const PATHS = ['/livez', '/v1/groups/bystander/items']
const PAUSE_MS = 10

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
const seen = { asked: 0, longestMs: 0, failures: [] }
let stopped = false
process.stdin.once('data', () => {
  stopped = true
})

function ask(path) {
  return new Promise((resolve) => {
    http
      .get(url + path, { agent }, (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode))
        answer.on('error', (error) => resolve(error.message))
      })
      .on('error', (error) => resolve(error.message))
  })
}

/**
 * Milliseconds that threads of both were ready to run and did not, so far; 0 where the system does not tell. Of all threads:
 * a main thread that waits for those that collect garbage with it waits for their processors too.
 */
function starvedMs() {
  let sum = 0
  for (const who of [pid, 'self']) {
    try {
      for (const thread of readdirSync(`/proc/${who}/task`)) {
        sum += Number(readFileSync(`/proc/${who}/task/${thread}/schedstat`, 'utf8').split(' ')[1]) / 1e6
      }
    } catch {
      // It is gone, or this is not Linux.
    }
  }
  return sum
}

async function askOnce() {
  const path = PATHS[seen.asked % PATHS.length]
  const since = performance.now() - starvedMs()
  const outcome = await ask(path)
  seen.longestMs = Math.max(seen.longestMs, performance.now() - starvedMs() - since)
  if (outcome !== 200) seen.failures.push(`${path}: ${outcome}`)
  seen.asked++
}

// The first ones pay for compiling what answers them.
for (let i = 0; i < 20; i++) await askOnce()
seen.longestMs = 0
console.log(JSON.stringify('ready'))
while (!stopped) {
  await askOnce()
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
}
agent.destroy()
process.stdin.destroy()
console.log(JSON.stringify({ ...seen, failures: seen.failures.slice(0, 5) }))
