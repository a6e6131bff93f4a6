/**
 * `npm run test:docker`: builds the image and runs it for real, where a Docker engine answers: with SQLite and with
 * MySQL. Elsewhere it says that nothing was tested, which is a failure only with RECENTN_REQUIRE_DOCKER=1.
 */
import { createHash } from 'node:crypto'
import { baseImage } from './docker-base.mjs'
import { checkMysql, checkSqlite, findCompose } from './docker-checks.mjs'
import { cleanUp, docker, run } from './docker-tools.mjs'
import { ROOT, seconds } from './lib.mjs'

const BUILD_MS = 15 * 60_000
/** Of this folder, and kept, so that the next build finds its layers. */
const IMAGE = `recentn-test:${createHash('sha256').update(ROOT).digest('hex').slice(0, 12)}`

const count = { passed: 0, failed: 0 }

function say(line) {
  process.stdout.write(`docker: ${line}\n`)
}

async function check(name, work) {
  const start = Date.now()
  try {
    const found = await work()
    count.passed += 1
    say(`ok      ${name}${typeof found === 'string' ? `: ${found}` : ''} (${seconds(start)})`)
  } catch (error) {
    count.failed += 1
    say(`FAILED  ${name} (${seconds(start)})\n${error.stack ?? error}`)
  }
}

function notTested(reason) {
  say(`######## THE IMAGE WAS NOT TESTED: ${reason}`)
  process.exitCode = process.env.RECENTN_REQUIRE_DOCKER === '1' ? 1 : 0
}

async function build(base) {
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].filter((name) => process.env[name])
  const args = ['build', '--build-arg', `BASE=${base}`, ...proxies.flatMap((name) => ['--build-arg', name])]
  // The first stage by its own name too, so that its layers are not lost as those of an image without a name.
  for (const target of [
    ['--target', 'build', '-t', `${IMAGE}-build`],
    ['-t', IMAGE],
  ]) {
    const { code, stdout, stderr } = await run('docker', [...args, ...target, '.'], { timeoutMs: BUILD_MS })
    if (code !== 0) throw new Error(`${code}: ${`${stdout}\n${stderr}`.split('\n').slice(-40).join('\n')}`)
  }
  const bytes = async (image) => Number(await docker('image', 'inspect', '--format', '{{.Size}}', image))
  const [whole, below] = [await bytes(IMAGE), await bytes(base)]
  return `${(whole / 1e6).toFixed(0)} MB, of which the base ${(below / 1e6).toFixed(0)} MB`
}

async function test() {
  const { code, stdout } = await run('docker', ['info', '--format', '{{.ServerVersion}}'], { timeoutMs: 15_000 })
  if (code !== 0) return notTested('no Docker engine answers')
  let base
  try {
    base = baseImage(say)
  } catch (error) {
    return notTested(`there is no image to build it on: ${error.message}`)
  }
  say(`engine ${stdout}; built on ${base.said}`)
  await check('the image builds', () => build(base.image))
  if (count.failed === 0) await checkSqlite(IMAGE, check)
  if (count.failed === 0) await mysql()
  say(`${count.passed} checks passed, ${count.failed} failed`)
  process.exitCode = count.failed > 0 ? 1 : 0
}

async function mysql() {
  const there = await run('docker', ['image', 'inspect', 'mysql:9.7'])
  if (there.code !== 0 && (await run('docker', ['pull', '-q', 'mysql:9.7'], { timeoutMs: 180_000 })).code !== 0) {
    return notTested('(with MySQL) mysql:9.7 is not here and cannot be pulled')
  }
  await checkMysql(IMAGE, check, await findCompose(), say)
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => cleanUp().then(() => process.exit(signal === 'SIGINT' ? 130 : 143)))
}
try {
  await test()
} finally {
  await cleanUp()
}
