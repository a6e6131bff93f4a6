/** PHP with PDO for the engines, and Python with PyMySQL: the machine's, or a private copy out of the distribution's packages. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { privateCopy } from './servers/debian'
import { findProgram } from './servers/find-program'
import { allowedSources } from './servers/find-server'

/** How to run programs of a language. */
export interface Interpreter {
  program: string
  options: string[]
  env: NodeJS.ProcessEnv
}

const DRIVERS = ['mysql', 'sqlite']
const EXTENSIONS = ['mysqlnd', 'pdo', 'pdo_mysql', 'pdo_sqlite']
const PHP: Interpreter = { program: 'php', options: [], env: process.env }
const PYTHON: Interpreter = { program: 'python3', options: [], env: process.env }

/** Whether this run fetches packages: CI does, so that nothing is left out there. */
function fetches(): boolean {
  if (process.env.CI) return true
  const isAllowed = allowedSources().includes('packages') || process.env.RECENTN_TEST_SERVERS === 'docker'
  return isAllowed && findProgram('apt-get') !== null
}

/** Why there is no PHP in this run, or null. */
export function whyNoPhp(): string | null {
  return hasDrivers(PHP) || fetches()
    ? null
    : 'there is no php with PDO for MySQL and SQLite, and nothing is fetched here'
}

/** Throws, with the reason, where it cannot be fetched. */
export async function findPhp(): Promise<Interpreter> {
  if (hasDrivers(PHP)) return PHP
  const { root, env } = await privateCopy({
    label: 'php',
    main: 'php*-cli',
    others: ['php*-common', 'php*-mysql', 'php*-sqlite3'],
  })
  const folder = join(root, 'usr/lib/php')
  const extensions = readdirSync(folder).find((name) => existsSync(join(folder, name, 'pdo.so'))) ?? ''
  const found = readdirSync(join(root, 'usr/bin')).find((name) => /^php[\d.]+$/.test(name)) ?? ''
  const options = ['-n', '-d', `extension_dir=${join(folder, extensions)}`]
  for (const name of EXTENSIONS) options.push('-d', `extension=${name}`)
  const copy = { program: join(root, 'usr/bin', found), options, env }
  if (!hasDrivers(copy)) throw new Error(`${copy.program} has no PDO for MySQL and SQLite`)
  return copy
}

function hasDrivers({ program, options, env }: Interpreter): boolean {
  const { stdout } = spawnSync(program, [...options, '-r', 'echo implode(",", PDO::getAvailableDrivers());'], {
    env,
    encoding: 'utf8',
  })
  const drivers = String(stdout).split(',')
  return DRIVERS.every((name) => drivers.includes(name))
}

/** Why there is no Python in this run, or null; `driver` is the module that it needs. */
export function whyNoPython(driver: 'sqlite3' | 'pymysql'): string | null {
  if (findProgram('python3') === null && !process.env.CI) return 'there is no python3'
  return hasModule(PYTHON, driver) || fetches() ? null : `python3 has no ${driver}, and nothing is fetched here`
}

export async function findPython(driver: 'sqlite3' | 'pymysql'): Promise<Interpreter> {
  if (driver === 'sqlite3' || hasModule(PYTHON, driver)) return PYTHON
  const { root } = await privateCopy({ label: 'pymysql', main: 'python3-pymysql', others: [] })
  const copy = { ...PYTHON, env: { ...process.env, PYTHONPATH: join(root, 'usr/lib/python3/dist-packages') } }
  if (!hasModule(copy, driver)) throw new Error(`python3 finds no ${driver} in ${root}`)
  return copy
}

function hasModule({ program, env }: Interpreter, name: string): boolean {
  return spawnSync(program, ['-c', `import ${name}`], { env }).status === 0
}
