/** Facts of this package, from the package.json above this file: a build lies deeper than the source. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

interface PackageFacts {
  root: string
  version: string
  sqlite: string
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

/** The newest major version of better-sqlite3 that fits this Node, as a range: 13 wants Node 22. */
export function sqliteRange(node = process.versions.node): string {
  known ??= find(__dirname)
  const [oldest, ...newer] = known.sqlite.split(' || ') as [string, ...string[]]
  return Number.parseInt(node, 10) < 22 ? oldest : (newer.at(-1) ?? oldest)
}

function find(folder: string): PackageFacts {
  const file = path.join(folder, 'package.json')
  if (!existsSync(file)) return find(path.dirname(folder))
  const { version, peerDependencies } = JSON.parse(readFileSync(file, 'utf8'))
  return { root: folder, version, sqlite: peerDependencies['better-sqlite3'] }
}
