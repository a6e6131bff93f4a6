/**
 * The built command line as one process for many commands: it takes half a second to load. Each line of standard input has the
 * arguments and the environment of a command, and each line of standard output what the command did. As in a process for
 * each, a command must leave nothing open.
 */
import { createInterface } from 'node:readline'
import { setImmediate, setTimeout } from 'node:timers/promises'
import cli from '../../dist/src/cli.js'

/** Handles that close by themselves a moment later. */
const PATIENCE_MS = 5000
const { stdout, stderr } = process
const writers = new Map([stdout, stderr].map((stream) => [stream, stream.write]))

/** The resources that keep this process alive. */
const open = () => process.getActiveResourcesInfo()

async function end(before) {
  // A warning is said in a later turn of the event loop than what it warns of.
  await setImmediate()
  for (const from = performance.now(); open().length > before; await setTimeout(2, undefined, { ref: false })) {
    if (performance.now() - from > PATIENCE_MS) throw new Error(`a command left something open: ${open().join(', ')}`)
    await setImmediate()
  }
}

async function ran({ args, env }) {
  const said = { code: null, stdout: '', stderr: '' }
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.exitCode = undefined
  for (const [name, stream] of Object.entries({ stdout, stderr })) {
    stream.write = (text) => {
      said[name] += text
      return true
    }
  }
  const before = open().length
  try {
    await cli.main(args)
    await end(before)
  } finally {
    for (const [stream, write] of writers) stream.write = write
    stdout.removeAllListeners('error')
  }
  said.code = process.exitCode ?? 0
  process.exitCode = undefined
  return said
}

for await (const line of createInterface({ input: process.stdin })) {
  stdout.write(`${JSON.stringify(await ran(JSON.parse(line)))}\n`)
}
