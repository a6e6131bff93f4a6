/** Shared by the tests of the examples: an app on a port, a condition that comes true, a program that ends. */
import { spawn } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { Express } from 'express'
import { ROOT } from '../support/processes'
import { eventually } from '../support/timing'

/** Serves the app on a free port. */
export async function serve(app: Express): Promise<{ url: string; close(): void }> {
  const server = app.listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close().closeAllConnections(),
  }
}

/** Asks until the answer is true; fails after 20 seconds. */
export function until(what: string, ask: () => Promise<boolean> | boolean): Promise<void> {
  return eventually(20_000, what, ask)
}

/** Runs an example as a separate program, on what is built; resolves at its end, which `signal` brings about by force. */
export function runExample(
  name: string,
  env: Record<string, string>,
  signal?: AbortSignal,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const args = ['--require', resolve(ROOT, 'test/support/run-typescript.cjs'), resolve(ROOT, 'examples', name)]
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  signal?.addEventListener('abort', () => child.kill('SIGKILL'))
  const said = { stdout: '', stderr: '' }
  for (const output of ['stdout', 'stderr'] as const) {
    child[output].setEncoding('utf8').on('data', (text: string) => {
      said[output] += text
    })
  }
  return new Promise((done, reject) => {
    child.on('error', reject)
    child.on('close', (code) => done({ code, ...said }))
  })
}
