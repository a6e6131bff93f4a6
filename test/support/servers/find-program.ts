import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where database servers are put that an ordinary user's PATH leaves out. */
const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec', '/usr/local/mysql/bin']

/** The full path of the first of `names` that is an executable file; null where none is. */
export function findProgram(...names: string[]): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...SERVER_FOLDERS]
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutable)
    if (found !== undefined) return found
  }
  return null
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
