/**
 * Where files live in memory. Most of a test's commits wait for a disk, and no test is about what a disk keeps: a killed
 * process or server finds its data here too.
 */
import { statfsSync } from 'node:fs'

const FOLDER = '/dev/shm'
/** A container that has the usual 64 MiB there gets its files on disk, as it would without us. */
const ENOUGH_BYTES = 2 ** 30

/** A folder for temporary files that is in memory and has enough of it; null where there is none. */
export function memoryFolder(): string | null {
  try {
    const { bavail, bsize } = statfsSync(FOLDER)
    return bavail * bsize >= ENOUGH_BYTES ? FOLDER : null
  } catch {
    return null
  }
}
