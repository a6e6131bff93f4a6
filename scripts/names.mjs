/**
 * `node scripts/names.mjs`: each type name has one meaning. A class, interface, type or enum name is defined once in the
 * server's code, and once in the code of the client and the dashboard, which know the server's shapes by its answers.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const DEFINITION =
  /^\s*(?:export )?(?:declare )?(?:(?:abstract )?(?:interface|class|enum) ([A-Z]\w*)|type ([A-Z]\w*)(?:<[^=]*>)?\s*=)/gm
const IN_BROWSERS = /^src\/(client|dashboard|reference)\//

const places = new Map()
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src', 'migrations'], {
  encoding: 'utf8',
})
for (const file of listed.split('\n').filter((name) => /\.tsx?$/.test(name) && existsSync(name))) {
  const side = IN_BROWSERS.test(file) ? 'client' : 'server'
  for (const [, named, alias] of readFileSync(file, 'utf8').matchAll(DEFINITION)) {
    const name = named ?? alias
    const key = `${name} (${side})`
    places.set(key, [...(places.get(key) ?? []), file])
  }
}
const several = [...places].filter(([, files]) => files.length > 1).sort(([, a], [, b]) => b.length - a.length)
for (const [name, files] of several) process.stdout.write(`${name}: ${files.length} meanings: ${files.join(', ')}\n`)
if (several.length > 0) {
  process.stdout.write(`names: ${several.length} names with more than one meaning\n`)
  process.exitCode = 1
}
