/** The machine that a figure was measured on, as far as figures depend on it. */
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { median } from '../run'

export interface Machine {
  cpu: string
  cores: number
  memoryGb: number
  system: string
  node: string
  /** Median time of a 4 KB write and fsync where the servers have their data. */
  fsyncMicroseconds: number
  /** Drivers by name. */
  packages: Record<string, string>
}

const PACKAGES = ['express', 'mysql2', 'better-sqlite3', 'ioredis', 'pg', 'bullmq', 'pg-boss', 'graphile-worker']

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? '?',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${distribution()}, Linux ${release()}`.replace(
      'Linux',
      process.platform === 'linux' ? 'Linux' : process.platform,
    ),
    node: process.version,
    fsyncMicroseconds: Math.round(fsyncTime()),
    packages: Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])),
  }
}

function versionOf(name: string): string {
  const folders = require.resolve.paths(name) ?? []
  for (const folder of folders) {
    try {
      return (JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')) as { version: string }).version
    } catch {
      // Not in this one.
    }
  }
  return '?'
}

function distribution(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? ''
  } catch {
    return ''
  }
}

function fsyncTime(): number {
  const path = join(tmpdir(), `recentn-bench-fsync-${process.pid}`)
  const file = openSync(path, 'w')
  const page = Buffer.alloc(4096, 1)
  const times: number[] = []
  for (let count = 0; count < 200; count++) {
    const start = process.hrtime.bigint()
    writeSync(file, page)
    fsyncSync(file)
    times.push(Number(process.hrtime.bigint() - start) / 1000)
  }
  closeSync(file)
  rmSync(path, { force: true })
  return median(times)
}
