/** The checks of the image, each on its own containers: with SQLite in a volume, and with MySQL by compose.yaml. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask, atTheEnd, checkItems, docker, must, PREFIX, portOf, run, stop, until } from './docker-tools.mjs'
import { ROOT } from './lib.mjs'

/** `docker stop` may take so long before it kills; what was accepted is finished within RECENTN_SHUTDOWN_SECONDS, 10. */
const GRACE_SECONDS = 15
const KEY = /^rk_[\w-]+$/

export async function checkSqlite(image, check) {
  const volume = `${PREFIX}-data`
  const name = `${PREFIX}-sqlite`
  await docker('volume', 'create', volume)
  atTheEnd('docker', ['volume', 'rm', '-f', volume])
  const once = (...args) => run('docker', ['run', '--rm', '-v', `${volume}:/data`, image, ...args])

  await check('without an API key it ends, and says how one is made', async () => {
    const { code, stderr } = await once()
    must(code === 1 && /recentn keys create/.test(stderr), `exit code ${code}: ${stderr}`)
  })
  let key
  await check('keys create prints a key', async () => {
    key = (await once('keys', 'create', '--label', 'test', '--scope', 'admin')).stdout
    must(KEY.test(key), key)
  })
  let port
  const start = async () => {
    port = await portOf(name)
    await until('it answers', 30, async () => (await ask(port, '/readyz'))?.status === 200)
  }
  await check('it serves on the published port, with a key', async () => {
    const hardened = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges']
    const published = ['-p', '127.0.0.1::3000', '--health-interval', '1s', '-v', `${volume}:/data`]
    await docker('run', '-d', '--name', name, ...hardened, ...published, image)
    atTheEnd('docker', ['rm', '-fv', name])
    await start()
    await checkItems(port, key)
  })
  await check('process 1 is node, and not of root', async () => {
    const script =
      "const fs = require('fs'); console.log(fs.readFileSync('/proc/1/comm', 'utf8').trim(), fs.statSync('/proc/1').uid)"
    const said = await docker('exec', name, 'node', '-e', script)
    must(said === 'node 1000', said)
  })
  await check('its health check finds it healthy', () =>
    until(
      'healthy',
      30,
      async () => (await docker('inspect', '--format', '{{.State.Health.Status}}', name)) === 'healthy',
    ),
  )
  await check('doctor, migrate and --version run beside it, in the same image', async () => {
    for (const args of [['doctor'], ['migrate'], ['--version']]) {
      const { code, stdout, stderr } = await once(...args)
      must(code === 0, `${args}: exit code ${code}: ${stdout} ${stderr}`)
    }
  })
  await check('SIGTERM answers who waits, and ends with 0 within the time', async () => {
    await ask(port, '/v1/queues/mail', { key, method: 'PUT', body: {} })
    const waiting = ask(port, '/v1/queues/mail/receive', { key, method: 'POST', body: { waitSeconds: 20 } })
    await new Promise((resolve) => setTimeout(resolve, 500))
    const { code, seconds } = await stop(name, GRACE_SECONDS)
    must(code === 0 && seconds < 10, `exit code ${code} after ${seconds} s`)
    const answer = await waiting
    must(
      answer?.status === 200 && answer.body.messages.length === 0,
      `the receive was answered ${JSON.stringify(answer)}`,
    )
    return `${seconds.toFixed(1)} s`
  })
  await check('after a restart the data is there', async () => {
    await docker('start', name)
    await start()
    const { body } = await ask(port, '/v1/groups/article%3A42/items', { key })
    must(body.totalAppended === '1' && body.items[0].member === 'user-7', JSON.stringify(body))
  })
}

/** How compose is called here; null where it is not installed. */
export async function findCompose() {
  for (const command of [['docker', 'compose'], ['docker-compose']]) {
    const { code, stdout } = await run(command[0], [...command.slice(1), 'version', '--short'])
    if (code === 0 && /^v?[2-9]/.test(stdout)) return { command, version: stdout }
  }
  return null
}

export async function checkMysql(image, check, compose, say) {
  const stack = await (compose ? composed(image, compose, say) : byHand(image))
  await check(`${stack.said}: up, while there is no key yet`, () => stack.up())
  let key
  await check('keys create prints a key', async () => {
    key = await until('a key', 120, async () => {
      const { stdout } = await stack.once('keys', 'create', '--label', 'test', '--scope', 'admin')
      return KEY.test(stdout) && stdout
    })
  })
  const answers = () => until('it answers', 120, async () => (await ask(await stack.port(), '/readyz'))?.status === 200)
  await check('with that it comes up by itself, and serves', async () => {
    await answers()
    await checkItems(await stack.port(), key)
  })
  await check('doctor finds nothing wrong with the server', async () => {
    const { code, stdout } = await stack.once('doctor')
    must(code === 0 && !/WRONG/.test(stdout), stdout)
  })
  await check('while MySQL is away it says so (503), and continues when it is back, with the data', async () => {
    await docker('stop', stack.mysql)
    const away = await until('503', 30, async () => {
      const answer = await ask(await stack.port(), '/v1/groups/article%3A42/items', { key })
      return answer?.status === 503 && answer
    })
    must(away.body.code === 'database_unavailable', JSON.stringify(away))
    await docker('start', stack.mysql)
    await answers()
    const { body } = await ask(await stack.port(), '/v1/groups/article%3A42/items', { key })
    must(body.totalAppended === '1', JSON.stringify(body))
    await checkItems(await stack.port(), key)
  })
  await check('SIGTERM ends it with 0 within the time', async () => {
    const { code, seconds } = await stop(stack.recentn, GRACE_SECONDS)
    must(code === 0 && seconds < 10, `exit code ${code} after ${seconds} s`)
    return `${seconds.toFixed(1)} s`
  })
}

const PASSWORDS = { MYSQL_PASSWORD: 'letmein0', MYSQL_ROOT_PASSWORD: 'letmein1' }

async function composed(image, { command, version }, say) {
  const folder = mkdtempSync(join(tmpdir(), 'recentn-test-docker-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  const files = ['-f', join(ROOT, 'compose.yaml')]
  const { stdout } = await run('docker', [
    'run',
    '--rm',
    '--entrypoint',
    'sh',
    'mysql:9.7',
    '-c',
    'command -v mysqladmin',
  ])
  if (stdout === '') {
    say('the image mysql:9.7 of this machine has no mysqladmin: its health check is replaced by a TCP connection')
    const test = { test: ['CMD', 'bash', '-c', '</dev/tcp/127.0.0.1/3306'] }
    writeFileSync(join(folder, 'override.json'), JSON.stringify({ services: { mysql: { healthcheck: test } } }))
    files.push('-f', join(folder, 'override.json'))
  }
  const env = { ...PASSWORDS, RECENTN_IMAGE: image, RECENTN_PORT: String(port) }
  const common = [...command.slice(1), '-p', PREFIX, ...files]
  const call = (...args) => run(command[0], [...common, ...args], { env, timeoutMs: 180_000 })
  atTheEnd(command[0], [...common, 'down', '-v', '--timeout', '0'], { env })
  return {
    said: `compose.yaml (Docker Compose ${version})`,
    up: async () => {
      // Waits for MySQL to be healthy, and not for recentn.
      const { code, stderr } = await call('up', '-d', '--no-build')
      must(code === 0, stderr)
    },
    once: (...args) => call('run', '--rm', '-T', 'recentn', ...args),
    port: async () => port,
    mysql: `${PREFIX}-mysql-1`,
    recentn: `${PREFIX}-recentn-1`,
  }
}

/** The same without compose. */
async function byHand(image) {
  const [mysql, recentn] = [`${PREFIX}-mysql`, `${PREFIX}-recentn`]
  const port = await freePort()
  await docker('network', 'create', PREFIX)
  atTheEnd('docker', ['network', 'rm', PREFIX])
  atTheEnd('docker', ['rm', '-fv', mysql, recentn])
  const url = `mysql://recentn:${PASSWORDS.MYSQL_PASSWORD}@${mysql}:3306/recentn`
  const account = { ...PASSWORDS, MYSQL_DATABASE: 'recentn', MYSQL_USER: 'recentn' }
  const variables = Object.entries(account).flatMap(([name, value]) => ['-e', `${name}=${value}`])
  const ours = ['--network', PREFIX, '-e', `DATABASE_URL=${url}`]
  return {
    said: 'docker commands, for there is no Docker Compose here',
    up: async () => {
      await docker('run', '-d', '--name', mysql, '--network', PREFIX, ...variables, 'mysql:9.7')
      const forever = ['--init', '--restart', 'unless-stopped', '-p', `127.0.0.1:${port}:3000`]
      await docker('run', '-d', '--name', recentn, ...forever, ...ours, image)
    },
    once: (...args) => run('docker', ['run', '--rm', ...ours, image, ...args]),
    port: async () => port,
    mysql,
    recentn,
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
