/** The version of this package, its SQLite driver's, and its folder: that of the package.json above this file (deeper in a build). */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

interface Found {
  root: string
  version: string
  sqlite: string
}

let known: Found | undefined

export function packageVersion(): string {
  known ??= find(__dirname)
  return known.version
}

export function packageRoot(): string {
  known ??= find(__dirname)
  return known.root
}

/** The versions of better-sqlite3 that fit. */
export function sqliteRange(): string {
  known ??= find(__dirname)
  return known.sqlite
}

function find(folder: string): Found {
  const file = path.join(folder, 'package.json')
  if (!existsSync(file)) return find(path.dirname(folder))
  const { version, peerDependencies } = JSON.parse(readFileSync(file, 'utf8'))
  return { root: folder, version, sqlite: peerDependencies['better-sqlite3'] }
}
