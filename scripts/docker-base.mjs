/**
 * The image that `npm run test:docker` builds on: the Dockerfile's own, or what RECENTN_DOCKER_BASE names; and where no
 * image can be pulled, a stand-in of the same kind: Debian from its own mirror, and the Node that runs this.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from './lib.mjs'

const SUITE = 'bookworm'
const PULL_MS = 180_000
const STAND_IN = `recentn-test-base:node-${process.versions.node}`

/** `{ image, said }`: the base and where it is from; throws the reasons when there is none. */
export function baseImage(say) {
  const asked = process.env.RECENTN_DOCKER_BASE
  if (asked) return { image: asked, said: `${asked} (RECENTN_DOCKER_BASE)` }
  const own = /^ARG BASE=(\S+)/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))[1]
  if (isHere(own)) return { image: own, said: `${own}, the Dockerfile's own` }
  const pulled = docker(['pull', '--quiet', own], { timeout: PULL_MS })
  if (pulled.status === 0) return { image: own, said: `${own}, the Dockerfile's own, pulled` }
  const why = String(pulled.stderr || pulled.error || 'it took too long').trim()
  say(`${own} is not here and can't be pulled: ${why}`)
  if (!isHere(STAND_IN)) makeStandIn(say)
  return { image: STAND_IN, said: `${STAND_IN}, A STAND-IN: Debian ${SUITE} from its mirror, and this machine's Node` }
}

function isHere(image) {
  return docker(['image', 'inspect', image]).status === 0
}

function docker(args, options = {}) {
  return spawnSync('docker', args, { encoding: 'utf8', ...options })
}

function makeStandIn(say) {
  if (process.platform !== 'linux' || process.getuid() !== 0) throw new Error('a stand-in is made on Linux, by root')
  const folder = mkdtempSync(join(tmpdir(), 'recentn-docker-base-'))
  try {
    say(`making ${STAND_IN} …`)
    const root = join(folder, 'root')
    const [program, env] = debootstrap(folder)
    must(program, ['--variant=minbase', SUITE, root, process.env.DEBIAN_MIRROR ?? 'http://deb.debian.org/debian'], {
      env,
    })
    for (const left of ['var/cache/apt/archives', 'var/lib/apt/lists', 'usr/share/doc']) empty(join(root, left))
    addNode(join(root, 'usr/local'))
    const changes = ['ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...trust(root)]
    const tar = join(folder, 'root.tar')
    must('tar', ['-C', root, '-cf', tar, '.'])
    must('docker', ['import', ...changes.flatMap((change) => ['--change', change]), tar, STAND_IN])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The program, from its package when it is not installed. */
function debootstrap(folder) {
  if (spawnSync('debootstrap', ['--version']).status === 0) return ['debootstrap', process.env]
  const work = join(folder, 'debootstrap')
  mkdirSync(work)
  must('apt-get', ['download', 'debootstrap'], { cwd: work })
  for (const file of readdirSync(work)) must('dpkg', ['-x', file, 'root'], { cwd: work })
  const env = { ...process.env, DEBOOTSTRAP_DIR: join(work, 'root/usr/share/debootstrap') }
  return [join(work, 'root/usr/sbin/debootstrap'), env]
}

function empty(folder) {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true })
}

/** Where the official images have it: the program, npm, and the headers that compiling needs. */
function addNode(local) {
  const npm = realpathSync(process.env.npm_execpath ?? must('sh', ['-c', 'command -v npm']).trim())
  const npmFolder = dirname(dirname(npm))
  const headers = join(dirname(dirname(realpathSync(process.execPath))), 'include/node')
  cpSync(process.execPath, join(local, 'bin/node'), { dereference: true })
  cpSync(npmFolder, join(local, 'lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
  if (existsSync(headers)) cpSync(headers, join(local, 'include/node'), { recursive: true })
}

/** The certificates that this machine trusts, where they are more than Node's own list, as behind a proxy that inspects. */
function trust(root) {
  const file = process.env.NODE_EXTRA_CA_CERTS
  if (!file || !existsSync(file)) return []
  mkdirSync(join(root, 'etc/ssl/certs'), { recursive: true })
  cpSync(file, join(root, 'etc/ssl/certs/this-machine.crt'), { dereference: true })
  return ['ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/this-machine.crt']
}

function must(program, args, options = {}) {
  const ran = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26, ...options })
  if (ran.status === 0) return ran.stdout
  throw new Error(
    `${program} ${args[0]}: ${(ran.stderr || ran.stdout || String(ran.error)).trim().split('\n').slice(-3).join(' ')}`,
  )
}
