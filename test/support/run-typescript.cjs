/**
 * `node --require` this to run a TypeScript script of the tests. The files that the script imports from `src` and `migrations`
 * comes from `dist`, so that a child process runs what users run, and starts fast.
 */
const Module = require('node:module')
const { readFileSync } = require('node:fs')
const { join, relative, resolve, sep } = require('node:path')
const { transformSync } = require('@swc/core')
const [, options] = require('../../jest.config.js').transform['\\.ts$']

const root = resolve(__dirname, '../..')
const built = new Set(['src', 'migrations', 'ormconfig.ts'])

require.extensions['.ts'] = (module, path) => {
  const { code } = transformSync(readFileSync(path, 'utf8'), { ...options, filename: path, sourceMaps: 'inline' })
  module._compile(code, path)
}

const resolveFilename = Module._resolveFilename
Module._resolveFilename = (...args) => {
  const path = resolveFilename(...args)
  const [top] = relative(root, path).split(sep)
  return built.has(top) ? join(root, 'dist', relative(root, path)).replace(/\.ts$/, '.js') : path
}
