/** The version of this package, and its folder: that of the package.json above this file (deeper in a build). */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

let known: { root: string; version: string } | undefined

export function packageVersion(): string {
  known ??= find(__dirname)
  return known.version
}

export function packageRoot(): string {
  known ??= find(__dirname)
  return known.root
}

function find(folder: string): { root: string; version: string } {
  const file = path.join(folder, 'package.json')
  if (existsSync(file)) return { root: folder, version: JSON.parse(readFileSync(file, 'utf8')).version }
  return find(path.dirname(folder))
}
