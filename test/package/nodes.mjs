/** The Nodes that the package is for, from npm's package `node`, and projects that use them. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { cleanEnvironment, run } from './steps.mjs'

export const MAJORS = [20, 22, 24]

/** Where the SQLite driver has to be compiled: without optimisation that takes a third of the time. */
const QUICK = { CFLAGS: '-O0', CXXFLAGS: '-O0' }

/** Installs the newest Node of a major version; resolves to what `Project` needs of it. */
export async function installNode(major, folder) {
  const home = join(folder, `node-${major}`)
  newProject(home, { allowScripts: { node: true } })
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', `node@${major}`], {
    cwd: home,
    seconds: 180,
  })
  const bin = join(home, 'node_modules', 'node', 'bin')
  const version = (await run(join(bin, 'node'), ['--version'])).trim()
  if (!version.startsWith(`v${major}.`)) throw new Error(`node@${major} is ${version}`)
  return { major, bin, version, headers: headersOf(home) }
}

/** The package of the platform brings the headers that the SQLite driver is compiled with; null where it has none. */
function headersOf(home) {
  const modules = [join(home, 'node_modules', 'node', 'node_modules'), join(home, 'node_modules')]
  const packages = modules.filter(existsSync).flatMap((path) => readdirSync(path).map((name) => join(path, name)))
  return packages.find((path) => existsSync(join(path, 'include', 'node', 'node.h'))) ?? null
}

function newProject(folder, manifest = {}) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true, ...manifest }))
}

/** A user's project, on one of the Nodes. */
export class Project {
  constructor(node, folder) {
    this.node = node
    this.folder = folder
    newProject(folder, { allowScripts: { 'better-sqlite3': true } })
    this.env = cleanEnvironment({
      ...QUICK,
      PATH: `${node.bin}${delimiter}${process.env.PATH}`,
      ...(node.headers && { npm_config_nodedir: node.headers }),
    })
  }

  /** Starts again with this dependency, in the version that is given, also for TypeORM, which asks for another one. */
  override(name, version) {
    newProject(this.folder, { dependencies: { [name]: version }, overrides: { typeorm: { [name]: `$${name}` } } })
  }

  npm(...args) {
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=warn']
    return run('npm', [...args, ...quiet], { cwd: this.folder, env: this.env, seconds: 300 })
  }

  /** Runs a program of this project with its Node. */
  run(program, args, options = {}) {
    return run(program, args, { cwd: this.folder, ...options, env: { ...this.env, ...options.env } })
  }
}
