/**
 * Pages that show what their code prints: each block is run, from the top of the page to its end, and prints that. HTML comments
 * before the blocks say what to do:
 *
 * - `prints`, before a `text` or `json` block: what the block before it prints. Times and receipt handles may differ.
 * - `server`, before a `sh` block: it starts a recentn server. Here it is one in memory.
 * - `serves`, before a `ts` block: an app that listens on `PORT` and prints the port.
 * - `file: NAME`, before any block: a file of this name that later blocks of the page use.
 *
 * A page's other `sh` blocks are run if they call `curl`, with the address that the server or the app has here.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { transformSync } from 'esbuild'
import { ROOT, startServer } from '../support/processes'
import { type Block, blocksOf, hasTools, PAGES } from './support/pages'

const SECONDS = 100

const SHOWING = PAGES.filter((page) => blocksOf(page).some(({ mark }) => mark === 'prints'))
/** The calls in the blocks of a page, beside Node. */
const toolsOf = (page: string) =>
  blocksOf(page).flatMap(({ language }) =>
    language === 'sh' ? ['bash', 'curl'] : language === 'python' ? ['python3'] : [],
  )

describe('what is shown is what is printed', () => {
  let code: string
  let data: string
  /** The server or the app that the page has started. */
  let port: string | undefined
  const undo: (() => unknown)[] = []

  beforeEach(() => {
    mkdirSync(join(ROOT, '.cache'), { recursive: true })
    code = mkdtempSync(join(ROOT, '.cache', 'printed-')) // within the project, where `recentn` and its packages are found
    data = mkdtempSync(join(tmpdir(), 'recentn-printed-'))
    writeFileSync(join(data, '.curlrc'), 'silent\nshow-error\nwrite-out = "\\n"\n')
    port = undefined
    undo.push(
      () => rmSync(code, { recursive: true }),
      () => rmSync(data, { recursive: true }),
    )
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  it.each(SHOWING)(
    '%s',
    async (page) => {
      if (!hasTools(...toolsOf(page))) return console.warn(`${page} is not run: bash, curl or python3 is missing here`)
      const blocks = blocksOf(page)
      for (const [at, block] of blocks.entries()) {
        const next = blocks[at + 1]
        await step(block, next?.mark === 'prints' ? next.code : undefined)
      }
    },
    180_000,
  )

  async function step(block: Block, shown: string | undefined): Promise<void> {
    if (block.mark === 'server') port = await serve()
    else if (block.mark === 'serves') port = await start(block)
    else if (block.mark?.startsWith('file: ')) writeFileSync(join(data, block.mark.slice(6)), adapted(block))
    else if (shown !== undefined || (block.language === 'sh' && /^\s*curl/m.test(block.code))) {
      const where = `${block.page}:${block.line}`
      const printed = plain(await run(block))
      if (shown !== undefined) expect({ where, printed }).toEqual({ where, printed: plain(shown) })
    }
  }

  async function serve(): Promise<string> {
    const server = await startServer()
    undo.push(() => server.stop())
    return new URL(server.url).port
  }

  async function start(block: Block): Promise<string> {
    const child = spawnBlock(block, { PORT: '0' })
    undo.push(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      // A browser opens connections that it does not use: they must not keep the app.
      const unused = connect(Number(port), '127.0.0.1')
      await once(unused, 'connect')
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
      expect(await closed).toEqual([0, null])
      clearTimeout(late)
      unused.destroy()
    })
    return new Promise((resolve, reject) => {
      child.once('close', (exit) => reject(new Error(`${block.page}:${block.line} ended with ${exit}`)))
      createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
        const found = /port: (\d+)/.exec(line)?.[1]
        if (found !== undefined) resolve(found)
      })
    })
  }

  async function run(block: Block): Promise<string> {
    const child = spawnBlock(block, {})
    const timer = setTimeout(() => child.kill('SIGKILL'), SECONDS * 1000)
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    const [exit] = await once(child, 'close')
    clearTimeout(timer)
    expect({ at: `${block.page}:${block.line}`, exit }).toEqual({ at: `${block.page}:${block.line}`, exit: 0 })
    return output
  }

  function spawnBlock(block: Block, env: Record<string, string>): ChildProcess {
    const [command, file, content] = programOf(block, adapted(block))
    writeFileSync(file, content)
    const options = {
      cwd: data,
      env: { ...process.env, ...env, CURL_HOME: data },
      stdio: ['ignore', 'pipe', 'inherit'] as const,
    }
    return spawn(command, [file], { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  }

  /** The code with the address that the page's server or app has here. */
  function adapted({ code }: Block): string {
    if (port === undefined) return code
    return code.replaceAll(/(localhost|127\.0\.0\.1):(?:3000|8080)\b/g, `$1:${port}`)
  }

  function programOf({ language, line }: Block, text: string): [command: string, file: string, content: string] {
    if (language === 'sh') return ['bash', join(data, `${line}.sh`), `set -eo pipefail\n${text}\n`]
    if (language === 'python') return ['python3', join(data, `${line}.py`), text]
    const tsconfigRaw = { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } }
    const { code: made } = transformSync(text, { loader: 'ts', format: 'esm', target: 'node20', tsconfigRaw })
    return [process.execPath, join(code, `${line}.mjs`), made]
  }
})

/** Without what differs from run to run. */
function plain(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) =>
      line
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
        .replaceAll(/"(receiptHandle|requestId)":"[^"]+"/g, '"$1":"…"'),
    )
}
