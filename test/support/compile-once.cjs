/**
 * Each test file loads its own copy of every module, of which there are about a thousand, and jest has V8 compile each of
 * them again: half of the time that a small file takes. Here a worker compiles a source once, and later files are given
 * what V8 made of it.
 */
const vm = require('node:vm')

const compileAsTold = vm.compileFunction

/**
 * jest.config.js names globals that a module gets as parameters (`sandboxInjectedGlobals`). A module that declares such a
 * name itself, as mysql2 does with `Error`, keeps its own: its parameter is called otherwise.
 */
function compile(source, parameters, options) {
  try {
    return compileAsTold(source, parameters, options)
  } catch (error) {
    const [, declared] = /^Identifier '(.+)' has already been declared/.exec(error.message) ?? []
    if (!parameters.includes(declared)) throw error
    const others = parameters.map((name) => (name === declared ? `$${name}` : name))
    return compile(source, others, options)
  }
}

/** Sources and what they were compiled to, by file. */
const compiled = new Map()

vm.compileFunction = (source, parameters, options) => {
  const known = compiled.get(options?.filename)
  // V8 compiles by itself what it finds not to fit.
  if (known?.source === source) return compile(source, parameters, { ...options, cachedData: known.data })
  const made = compile(source, parameters, { ...options, produceCachedData: true })
  // A copy: the buffer that V8 gives belongs to the test file's context, and would keep all of that in memory.
  if (options?.filename && made.cachedData)
    compiled.set(options.filename, { source, data: Buffer.from(made.cachedData) })
  return made
}
