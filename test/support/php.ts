/** PHP with PDO for the engines: the machine's, or a private copy out of the distribution's packages. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { privateCopy } from './servers/debian'
import { findProgram } from './servers/find-program'
import { allowedSources } from './servers/find-server'
import { messageOf } from './servers/server'

/** How to run PHP; a text: why there is none. */
export type Php = { program: string; options: string[]; env: NodeJS.ProcessEnv } | string

const DRIVERS = ['mysql', 'sqlite']
const EXTENSIONS = ['mysqlnd', 'pdo', 'pdo_mysql', 'pdo_sqlite']

export async function findPhp(): Promise<Php> {
  const program = findProgram('php')
  const installed = program === null ? null : { program, options: [], env: process.env }
  if (installed && hasDrivers(installed)) return installed
  if (!process.env.CI && !allowedSources().includes('packages') && process.env.RECENTN_TEST_SERVERS !== 'docker') {
    return 'there is no php with PDO for MySQL and SQLite, and no packages are fetched in this run'
  }
  try {
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
    return hasDrivers(copy) ? copy : `${copy.program} has no PDO for MySQL and SQLite`
  } catch (error) {
    return messageOf(error)
  }
}

function hasDrivers({ program, options, env }: Exclude<Php, string>): boolean {
  const { stdout } = spawnSync(program, [...options, '-r', 'echo implode(",", PDO::getAvailableDrivers());'], {
    env,
    encoding: 'utf8',
  })
  const drivers = String(stdout).split(',')
  return DRIVERS.every((name) => drivers.includes(name))
}
