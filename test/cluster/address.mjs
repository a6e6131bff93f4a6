/** One address for the writer: HAProxy before the nodes, with the configuration and the checks that docs/clusters.md shows. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { atTheEnd, docker, must, sleep, until } from '../../scripts/docker-tools.mjs'
import { ROOT } from '../../scripts/lib.mjs'
import { GALERA_IMAGE } from './galera.mjs'

/** The page's block that begins with this file's name. */
function block(file) {
  const page = readFileSync(join(ROOT, 'docs', 'clusters.md'), 'utf8')
  const found = [...page.matchAll(/^```\w+\n([\s\S]*?)^```/gm)].find(([, text]) => text.includes(`# ${file}\n`))
  must(found, `docs/clusters.md does not show ${file}`)
  return found[1]
}

export class Address {
  constructor(nodes) {
    this.nodes = nodes
    this.host = `${nodes.net}.${138 + nodes.numbers.length + 1}`
  }

  url(database = '') {
    return `mysql://root:${this.nodes.password}@${this.host}:3306/${database}`
  }

  async start() {
    const { nodes } = this
    const folder = join(nodes.folder, 'haproxy')
    mkdirSync(folder)
    const config = block('haproxy.cfg').replace(/10\.0\.0\.(\d)/g, (_, node) => nodes.host(Number(node)))
    writeFileSync(join(folder, 'haproxy.cfg'), config)
    writeFileSync(join(folder, 'is-well.sh'), block(nodes.server.check), { mode: 0o755 })
    const name = `${nodes.name}-haproxy`
    atTheEnd('docker', ['rm', '-f', '-v', name])
    const network = ['--network', `${nodes.name}-clients`, '--ip', this.host]
    const run = ['run', '-d', '--name', name, ...network, '-v', `${folder}:/etc/haproxy:ro`, '--entrypoint', 'haproxy']
    await docker(...run, GALERA_IMAGE, '-db', '-f', '/etc/haproxy/haproxy.cfg')
    await this.answeredBy('a node', () => true, 20)
  }

  /** Waits until a node that fits answers on the address; its number. */
  answeredBy(what, fits, seconds) {
    return until(`the address leads to ${what}`, seconds, async () => {
      const [row] = await this.nodes.queryAt(this.url(), 'SELECT @@hostname AS name', 1500).catch(() => [])
      const node = Number(row?.name.replace('node', ''))
      return row !== undefined && fits(node) ? node : undefined
    })
  }

  /** The nodes that have connections to this database. */
  async used(database) {
    const used = []
    for (const node of this.nodes.numbers) {
      const rows = await this.nodes.query(node, 'SHOW PROCESSLIST').catch(() => [])
      if (rows.some(({ db }) => db === database)) used.push(node)
    }
    return used
  }

  /** The node that has the connections is killed, and comes back; all go to another one, and stay there. */
  async nodeLost({ database }) {
    const { nodes } = this
    const first = await this.answeredBy('a node', () => true, 10)
    await nodes.kill(first)
    const next = await this.answeredBy(`another node than ${first}`, (node) => node !== first, 15)
    await nodes.restart(first)
    await nodes.well(first, 60)
    // Two checks in a row take the node in again; the connections stay.
    await sleep(3000)
    const used = await this.used(database)
    must(used.join() === String(next), `the connections are on the nodes ${used.join(', ')}, not on ${next} alone`)
    return next
  }
}
