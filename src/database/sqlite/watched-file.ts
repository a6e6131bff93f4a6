/**
 * Notices that the file of an open SQLite connection, or the `-wal` or `-shm` beside it, was deleted or replaced. Before
 * a file is opened, it notices that its `-wal` is of another file. SQLite itself does not: it continues to acknowledge commits to
 * a file that no process will find again, and applies any `-wal`, which damages the file.
 *
 * Invariant: at most a second passes between the last look at the files and a statement. There is no timer: an idle
 * connection looks at nothing.
 */
import { type BigIntStats, closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import path from 'node:path'
import { RecentnError } from '../../shared/errors'
import { delay, performance } from '../../shared/platform'

const LOOK_MS = 1000
const BESIDE = ['-wal', '-shm']

export class WatchedFile {
  readonly #path: string
  readonly #identity: string | null
  /** By ending: those of the files beside it, once they are there. As long as a connection is open, they stay. */
  readonly #beside = new Map<string, string>()
  readonly #openedAt = performance.now()
  #lookedAt = this.#openedAt

  /** The connection must just have been opened. */
  constructor(file: string) {
    this.#path = path.resolve(file)
    this.#identity = this.#look('', null)
  }

  /** Throws `database_unavailable` if the files are not those that were opened. */
  require(): void {
    const now = performance.now()
    const isLearning = this.#beside.size === 0 && now - this.#openedAt < LOOK_MS
    if (now - this.#lookedAt < LOOK_MS && !isLearning) return
    if (this.#look('', this.#identity) !== this.#identity) throw replaced(this.#path)
    for (const ending of BESIDE) {
      const known = this.#beside.get(ending)
      const found = this.#look(ending, known ?? null)
      if (known !== undefined && found !== known) throw replaced(this.#path + ending)
      if (found !== null) this.#beside.set(ending, found)
    }
    this.#lookedAt = now
  }

  /** The text that tells the file from any other; null if there is none. If it cannot be looked at, it is taken for the same. */
  #look(ending: string, known: string | null): string | null {
    try {
      const found = statOf(this.#path + ending)
      return found === undefined ? null : `${found.dev}/${found.ino}`
    } catch {
      return known
    }
  }
}

function replaced(file: string): RecentnError {
  return new RecentnError(
    'database_unavailable',
    `The file ${file} was deleted or replaced while it was open: put it back, or restart the process`,
    { retryAfterSeconds: 1 },
  )
}

const statOf = (file: string): BigIntStats | undefined => statSync(file, { bigint: true, throwIfNoEntry: false })

const [WAL_HEADER, FRAME_HEADER] = [32, 24]
const SETTLE_MS = 200

/**
 * Throws `database_refused` if the file was written after its `-wal`, and not from it: a backup was copied over the file of
 * a process that was killed. Looks only while this process has the file not open: to close it would release SQLite's locks.
 */
export async function requireOwnWal(file: string): Promise<void> {
  const before = strangeWal(file)
  if (before === null) return
  // Another process may be writing both.
  await delay(SETTLE_MS)
  if (strangeWal(file) !== before) return
  throw new RecentnError(
    'database_refused',
    `${file}-wal does not belong to ${file}, which was written by something else since: stop every process that has the ` +
      'file open, then go back to a backup with "recentn restore". If only the rights of the file have changed, or it was ' +
      `moved together with its -wal, run "touch ${file}-wal" and start again`,
  )
}

/** The text that tells this state from another one; null if the `-wal` may belong to the file. */
function strangeWal(file: string): string | null {
  const [main, wal] = [statOf(file), statOf(`${file}-wal`)]
  if (!main || !wal || main.size === 0n || wal.size <= WAL_HEADER || main.ctimeNs <= wal.ctimeNs) return null
  if (isOpenHere(main) || hasPageOf(file, Number(wal.size))) return null
  return `${main.ctimeNs} ${wal.ctimeNs} ${wal.size}`
}

/** Also where that cannot be found out. */
function isOpenHere({ dev, ino }: BigIntStats): boolean {
  try {
    return readdirSync('/proc/self/fd').some((fd) => {
      try {
        const one = fstatSync(Number(fd), { bigint: true })
        return one.ino === ino && one.dev === dev
      } catch {
        return false
      }
    })
  } catch {
    return true
  }
}

/** Whether a page of the file is one that its `-wal` has: a checkpoint has written it. */
function hasPageOf(file: string, walBytes: number): boolean {
  const [main, wal] = [openSync(file, 'r'), openSync(`${file}-wal`, 'r')]
  try {
    const header = Buffer.alloc(WAL_HEADER)
    readSync(wal, header, 0, WAL_HEADER, 0)
    const pageBytes = header.readUInt32BE(8)
    if (pageBytes < 512 || pageBytes > 65_536) return false
    const [frame, page] = [Buffer.alloc(FRAME_HEADER + pageBytes), Buffer.alloc(pageBytes)]
    for (let at = WAL_HEADER; at + frame.length <= walBytes; at += frame.length) {
      readSync(wal, frame, 0, frame.length, at)
      // The rest is of an earlier round.
      if (frame.compare(header, 16, 24, 8, 16) !== 0) return false
      readSync(main, page, 0, pageBytes, (frame.readUInt32BE(0) - 1) * pageBytes)
      if (page.equals(frame.subarray(FRAME_HEADER))) return true
    }
    return false
  } finally {
    closeSync(main)
    closeSync(wal)
  }
}
