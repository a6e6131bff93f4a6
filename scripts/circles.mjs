/**
 * `node scripts/circles.mjs`: no files of `src` import each other in a cycle, not even for a type alone, which the linter's
 * rule against cycles lets through.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g

const files = readdirSync('src', { recursive: true })
  .map((name) => join('src', name))
  .filter((name) => /\.tsx?$/.test(name))
const known = new Set(files)
const importsOf = new Map(
  files.map((file) => [file, [...readFileSync(file, 'utf8').matchAll(IMPORT)].flatMap(to(file))]),
)

function to(file) {
  return ([, path]) => {
    const target = join(file, '..', path)
    const found = [target, `${target}.ts`, `${target}.tsx`, join(target, 'index.ts')].find((one) => known.has(one))
    return found === undefined ? [] : [found]
  }
}

/** Files from which no cycle can be reached. */
const done = new Set()
const cycles = []

/** `way`: how the file was reached. */
function visit(file, way) {
  if (done.has(file)) return
  const at = way.indexOf(file)
  if (at >= 0) cycles.push([...way.slice(at), file])
  else for (const next of importsOf.get(file)) visit(next, [...way, file])
  done.add(file)
}

for (const file of files) visit(file, [])
for (const cycle of cycles) process.stdout.write(`${cycle.join(' → ')}\n`)
if (cycles.length > 0) {
  process.stdout.write(`cycles: ${cycles.length} cycles of imports\n`)
  process.exitCode = 1
}
