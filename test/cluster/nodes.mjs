/**
 * The nodes of a cluster: a container each, with one network between them and one for their clients, so that a partition is a
 * network that is gone. Owns the containers, networks and data folders of a run, and removes them at its end.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atTheEnd, docker, run, sleep } from '../../scripts/docker-tools.mjs'

const COUNT = 3

const PASSWORD = 'cluster'

/** Builds the image of a server or a proxy; null, or why there can be none. `scripts` run in it, one after the other. */
export async function buildImage(image, base, scripts) {
  if ((await run('docker', ['image', 'inspect', base])).code !== 0) {
    const { code } = await run('docker', ['pull', '-q', base], { timeoutMs: 180_000 })
    if (code !== 0) return `${base} is not here and cannot be pulled`
  }
  const encoded = scripts.map((script) => Buffer.from(`set -e\n${script}\n`).toString('base64'))
  const lines = encoded.map((text) => `RUN echo ${text} | base64 -d | sh`)
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].filter((name) => process.env[name])
  const args = ['build', '-q', '-t', image, ...proxies.flatMap((name) => ['--build-arg', name]), '-']
  const options = { input: [`FROM ${base}`, ...lines, ''].join('\n'), encoding: 'utf8', timeout: 240_000 }
  const { status, stderr } = spawnSync('docker', args, options)
  return status === 0 ? null : `${image} cannot be built from ${base}: ${stderr?.trim().split('\n').at(-1)}`
}

/** SQL: the accounts of the load and of a proxy's health checks. */
export const ACCOUNTS = [
  `CREATE USER root@'%' IDENTIFIED BY '${PASSWORD}'`,
  "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION",
  "CREATE USER health@'%'",
]

/** In memory where there is room: a killed server finds its data there all the same. */
function dataFolder() {
  const memory = '/dev/shm'
  const free = existsSync(memory) ? statfsSync(memory) : { bavail: 0, bsize: 0 }
  return mkdtempSync(join(free.bavail * free.bsize > 3 * 2 ** 30 ? memory : tmpdir(), 'recentn-cluster-'))
}

export class Nodes {
  /** `server` knows the engine: how data is made, how a node is started, and when it is well. */
  constructor(server) {
    this.server = server
    this.name = `recentn-${server.name}-${randomBytes(3).toString('hex')}`
    this.password = PASSWORD
    this.folder = dataFolder()
    this.numbers = Array.from({ length: server.count ?? COUNT }, (_, index) => index + 1)
    atTheEnd('rmdir', [this.folder])
    // Containers write as root.
    atTheEnd('docker', [
      'run',
      '--rm',
      '-v',
      `${this.folder}:/data`,
      '--entrypoint',
      'sh',
      server.image,
      '-c',
      'rm -rf /data/*',
    ])
    this.#makeNetworks = this.#networks()
  }

  #makeNetworks

  /** A free network of 256 addresses, in two halves: one for the nodes among themselves, one for clients. */
  async #networks() {
    for (let tries = 0; ; tries++) {
      this.net = `10.${randomInt(100, 250)}.${randomInt(1, 250)}`
      const make = (half, range) =>
        run('docker', ['network', 'create', '--subnet', `${this.net}.${range}/25`, `${this.name}-${half}`])
      const made = await make('nodes', 0)
      if (made.code === 0) {
        atTheEnd('docker', ['network', 'rm', `${this.name}-nodes`])
        const { code } = await make('clients', 128)
        if (code === 0) {
          atTheEnd('docker', ['network', 'rm', `${this.name}-clients`])
          return
        }
      }
      if (tries > 5) throw new Error(`no network: ${made.stderr}`)
    }
  }

  container(node) {
    return `${this.name}-${node}`
  }

  /** Its address among the nodes. */
  address(node) {
    return `${this.net}.${10 + node}`
  }

  /** Its address for clients. */
  host(node) {
    return `${this.net}.${138 + node}`
  }

  url(node, database = '') {
    return `mysql://root:${this.password}@${this.host(node)}:3306/${database}`
  }

  /** The URL with all hosts. */
  urlOfAll(database) {
    const hosts = this.numbers.map((node) => `${this.host(node)}:3306`).join(',')
    return `mysql://root:${this.password}@${hosts}/${database}`
  }

  /** All at the same time; the first one makes the cluster. */
  async start() {
    await this.#makeNetworks
    await Promise.all(this.numbers.map((node) => this.#run(node)))
    await Promise.all(this.numbers.map((node) => this.#answers(node, 60)))
    for (const nodes of [[1], this.numbers.slice(1)]) {
      await Promise.all(nodes.map((node) => this.server.join?.(this, node)))
      await Promise.all(nodes.map((node) => this.well(node, 60)))
    }
  }

  async #run(node) {
    const name = this.container(node)
    atTheEnd('docker', ['rm', '-f', '-v', name])
    const network = ['--network', `${this.name}-nodes`, '--ip', this.address(node)]
    const volume = ['-v', `${join(this.folder, String(node))}:/data`]
    // The image has the data of a first start.
    const script = `[ -e /data/started ] || cp -a /seed/. /data/; ${this.server.program(this, node)}`
    await docker(
      'run',
      '-d',
      '--name',
      name,
      '--hostname',
      `node${node}`,
      ...network,
      ...volume,
      '--entrypoint',
      'sh',
      this.server.image,
      '-c',
      script,
    )
    await docker('network', 'connect', '--ip', this.host(node), `${this.name}-clients`, name)
  }

  /** One statement on a separate connection. */
  query(node, sql, timeoutMs) {
    return this.queryAt(this.url(node), sql, timeoutMs)
  }

  async queryAt(uri, sql, timeoutMs = 5000) {
    const { createConnection } = await import('mysql2/promise')
    const connection = await createConnection({ uri, connectTimeout: timeoutMs })
    connection.on('error', () => {})
    let timer
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error('no answer')), timeoutMs)
    })
    try {
      const [rows] = await Promise.race([connection.query(sql), late])
      return rows
    } finally {
      clearTimeout(timer)
      connection.destroy()
    }
  }

  async #answers(node, seconds) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(250)) {
      const answer = await this.query(node, 'SELECT 1').catch(() => null)
      if (answer !== null || !(await this.runs(node))) return
    }
  }

  /** Waits until the node is a member that has caught up. */
  async well(node, seconds) {
    for (const end = Date.now() + seconds * 1000; ; await sleep(250)) {
      const state = await this.server.state(this, node).catch((error) => `${error.message}`)
      if (state === 'well') return
      if (Date.now() > end || !(await this.runs(node))) {
        throw new Error(`node ${node} is not well after ${seconds} s: ${state}\n${await this.log(node, 15)}`)
      }
    }
  }

  async runs(node) {
    const { stdout } = await run('docker', ['inspect', '--format', '{{.State.Running}}', this.container(node)])
    return stdout === 'true'
  }

  async log(node, lines) {
    const { stdout, stderr } = await run('docker', ['logs', '--tail', String(lines), this.container(node)])
    return `${stdout}\n${stderr}`
  }

  /** Nodes whose server has ended by itself: it has crashed. */
  async crashed() {
    const gone = []
    for (const node of this.numbers) if (!(await this.runs(node))) gone.push(node)
    return gone
  }

  kill(node) {
    return docker('kill', '-s', 'KILL', this.container(node))
  }

  /** Starts the server of a node that was killed. */
  restart(node) {
    return docker('start', this.container(node))
  }

  /** SIGSTOP for all of the node's processes, in effect. */
  pause(node) {
    return docker('pause', this.container(node))
  }

  unpause(node) {
    return docker('unpause', this.container(node))
  }

  /** Takes a network from the node: `nodes`, or `clients`. */
  cut(node, half) {
    return docker('network', 'disconnect', '-f', `${this.name}-${half}`, this.container(node))
  }

  heal(node, half) {
    const ip = half === 'nodes' ? this.address(node) : this.host(node)
    return docker('network', 'connect', '--ip', ip, `${this.name}-${half}`, this.container(node))
  }

  async isMember(node) {
    const { isMember } = this.server
    return isMember === undefined || isMember(this, node).catch(() => false)
  }

  /** Waits until a node that was away is a member again, by itself or by what its server needs for that. */
  async rejoined(node) {
    for (const end = Date.now() + 60_000; ; await sleep(250)) {
      const state = await this.server.state(this, node).catch(({ message }) => message)
      if (state === 'well' && (await this.isMember(node))) return
      if (Date.now() > end) throw new Error(`node ${node} did not come back: ${state}\n${await this.log(node, 15)}`)
      if (this.server.isOut?.(state)) await this.server.rejoin(this, node).catch(() => {})
    }
  }
}
