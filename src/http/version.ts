/** Facts of this package, from the package.json above this file: a build lies deeper than the source. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

interface PackageFacts {
  root: string
  version: string
  /** Versions from which on a Node fits: `^` for its major version alone. */
  node: string
}

let known: PackageFacts | undefined

export function packageVersion(): string {
  known ??= find(__dirname)
  return known.version
}

export function packageRoot(): string {
  known ??= find(__dirname)
  return known.root
}

/** A sentence if the package does not support this Node, otherwise null. */
export function nodeFault(node = process.versions.node): string | null {
  known ??= find(__dirname)
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const fits = known.node.split(' || ').some((range) => {
    const [from = 0, least = 0] = range.replace(/^\D+/, '').split('.').map(Number)
    return major === from ? minor >= least : major > from && !range.startsWith('^')
  })
  return fits ? null : `Node ${node} is not supported: recentn is made for ${known.node} (package.json, engines)`
}

function find(folder: string): PackageFacts {
  const file = path.join(folder, 'package.json')
  if (!existsSync(file)) return find(path.dirname(folder))
  const { version, engines } = JSON.parse(readFileSync(file, 'utf8'))
  return { root: folder, version, node: engines.node }
}
