/**
 * `node scripts/clocks.mjs`: timers and clocks of the library and the server come from `src/shared/platform.ts`. An app's tests may
 * turn on fake timers: code that used the globals would then wait for ever. Browsers and the command line use the globals.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const ELSEWHERE = /^src\/(client|dashboard|reference|cli)\/|^src\/shared\/platform\.ts$/
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm
/** Globals, unless the file imports them. */
const GLOBAL =
  /(?<![.\w])(?:set|clear)(?:Timeout|Interval|Immediate)\b|(?<![.\w])(?:queueMicrotask|performance)\b(?!\.timeOrigin)/g
const NEVER =
  /\bDate\.now\b|\bnew Date\(\)|\bprocess\.(?:nextTick|hrtime)\b|'node:(?:timers|timers\/promises|perf_hooks)'/g
const REAL = /import \{([^}]*)\} from '[./]+\/(?:shared\/)?platform'/g

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src'], {
  encoding: 'utf8',
})
let faults = 0
for (const file of listed.split('\n').filter((name) => /\.tsx?$/.test(name) && existsSync(name))) {
  if (ELSEWHERE.test(file)) continue
  const code = readFileSync(file, 'utf8').replace(COMMENT, '')
  const imported = new Set([...code.matchAll(REAL)].flatMap(([, names]) => names.split(',').map((name) => name.trim())))
  const used = [...code.matchAll(GLOBAL)].map(([name]) => name).filter((name) => !imported.has(name))
  for (const name of new Set([...used, ...[...code.matchAll(NEVER)].map(([text]) => text)])) {
    process.stdout.write(`${file}: ${name}: import it from src/shared/platform.ts, which fake timers do not reach\n`)
    faults++
  }
}
if (faults > 0) process.exitCode = 1
