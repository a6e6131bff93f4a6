/** A load of two processes on one SQLite file, which other programs lock, take away, and fill the disk of. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { whenKilled } from '../support/servers/guard'
import { type Fault, FaultRun, IS_LONG, PROCESS_FAULTS } from './fault-run'

const MEGABYTES = 128

jest.setTimeout(300_000)

describe('a load on sqlite', () => {
  let folder: string
  let run: FaultRun
  let stranger: BetterSqlite3.Database | null = null
  let isMounted = false
  let release = () => {}
  const file = () => join(folder, 'recentn.db')
  const filler = () => join(folder, 'filler')

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'recentn-file-faults-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m`, 'tmpfs', folder], { stdio: 'pipe' })
      isMounted = true
      release = whenKilled('umount -l "$1"; rmdir "$1"', [folder])
    } catch (error) {
      process.stderr.write(`NOT TESTED: a full disk under load on sqlite: ${(error as Error).message}\n`)
    }
    run = await FaultRun.begin('sqlite', `sqlite:${file()}`, `sqlite:${file()}`)
  })

  afterAll(async () => {
    stranger?.close()
    await run?.end()
    if (isMounted) execFileSync('umount', ['-l', folder])
    release()
    rmSync(folder, { recursive: true, force: true })
  })

  function lock(how: string): void {
    stranger = new BetterSqlite3(file(), { timeout: 10_000 })
    stranger.exec(how)
  }

  function unlock(): void {
    stranger?.exec('ROLLBACK')
    stranger?.close()
    stranger = null
  }

  function fill(): void {
    if (!isMounted) return
    // The free space in its write-ahead log would hold the writes of the next seconds.
    const checkpoint = new BetterSqlite3(file(), { timeout: 10_000 })
    checkpoint.pragma('wal_checkpoint(TRUNCATE)')
    checkpoint.close()
    const output = openSync(filler(), 'w')
    try {
      for (const size of [2 ** 20, 2 ** 12]) {
        for (;;) {
          try {
            writeSync(output, Buffer.alloc(size))
          } catch {
            break
          }
        }
      }
    } finally {
      closeSync(output)
    }
  }

  const faults: Fault[] = [
    ...PROCESS_FAULTS,
    {
      name: 'another program holds the write lock',
      seconds: [5, 20],
      begin: () => lock('BEGIN IMMEDIATE'),
      end: unlock,
    },
    {
      name: 'another program reads, and does not end',
      seconds: [3, IS_LONG ? 20 : 3],
      begin: () => lock('BEGIN; SELECT COUNT(*) FROM recentn_items'),
      end: unlock,
    },
    {
      name: 'the file is taken away, and put back',
      seconds: [3, 5],
      begin: () => renameSync(file(), `${file()}.away`),
      end: () => renameSync(`${file()}.away`, file()),
    },
    { name: 'the disk is full', seconds: [3, 5], begin: fill, end: () => rmSync(filler(), { force: true }) },
  ]

  it.each(faults.map((fault) => [fault.name, fault] as const))('%s', async (_, fault) => {
    await run.suffer(fault)
  })

  it('nothing is lost, twice, or held by two', () => run.judge(async () => 0))
})
