/** The version of this package, from the package.json above this file (which is deeper in a build than in the source). */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

let known: string | undefined

export function packageVersion(): string {
  known ??= read(__dirname)
  return known
}

function read(folder: string): string {
  const file = path.join(folder, 'package.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).version
  return read(path.dirname(folder))
}
