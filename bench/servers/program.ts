/** A program that a bench needs: of the machine, else a private copy out of the distribution's packages. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateCopy, type Wanted } from '../../test/support/servers/debian'
import { findProgram, isExecutable } from '../../test/support/servers/find-program'
import { whenKilled } from '../../test/support/servers/guard'
import { terminate } from '../../test/support/servers/program'

export interface Program {
  path: string
  env: NodeJS.ProcessEnv
  origin: string
}

/** `inPackage` gives where the program is, under the root of its unpacked package. */
export async function getProgram(name: string, wanted: Wanted, inPackage: (root: string) => string): Promise<Program> {
  const found = findProgram(name)
  if (found !== null) return { path: found, env: process.env, origin: found }
  const { root, origin, env } = await privateCopy(wanted)
  const path = inPackage(root)
  if (!isExecutable(path)) throw new Error(`${root} has no ${name}; remove that folder`)
  return { path, env, origin }
}

export interface Running {
  child: ChildProcess
  folder: string
  /** The server's own output. */
  log: string
  /** Ends it, and removes its folder. */
  stop(): Promise<void>
}

export function temporaryFolder(label: string): string {
  return mkdtempSync(join(tmpdir(), `recentn-bench-${label}-`))
}

/** Starts a server whose data is in `folder`; both go away with it, and with us however we end. */
export function startProgram(program: Program, args: string[], folder: string, as: { uid?: number } = {}): Running {
  const log = join(folder, 'log')
  const output = openSync(log, 'a')
  // A session of its own: Ctrl-C is for the bench, which then ends the server.
  const child = spawn(program.path, args, {
    ...as,
    cwd: folder,
    env: program.env,
    stdio: ['ignore', output, output],
    detached: true,
  })
  child.on('error', () => {})
  child.unref()
  const release = whenKilled('kill -9 "$1"; sleep 0.2; rm -rf "$2"', [String(child.pid), folder])
  const stop = async () => {
    await terminate(child)
    release()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { child, folder, log, stop }
}

/** Tries until `attempt` succeeds; throws its last refusal after `seconds`, and at once when the server is gone. */
export async function untilReady(running: Running, seconds: number, attempt: () => Promise<unknown>): Promise<void> {
  const end = Date.now() + seconds * 1000
  for (;;) {
    try {
      await attempt()
      return
    } catch (error) {
      if (running.child.exitCode !== null || Date.now() > end) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
