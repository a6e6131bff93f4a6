/** A server in a container, through testcontainers, where a Docker engine answers. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from './find-program'
import { whenKilled } from './guard'
import { memoryFolder } from './memory'
import { freePort } from './program'
import { awaitVersion, type BreakableServer, type DataPlace, messageOf, type Server, type ServerEngine } from './server'

const run = promisify(execFile)

/** A pull that takes longer is given up: the next source is faster. */
const PULL_SECONDS = 180

const IMAGES: Record<ServerEngine, { variable: string; image: string }> = {
  mariadb: { variable: 'RECENTN_TEST_MARIADB_IMAGE', image: 'mariadb:11.8' },
  mysql: { variable: 'RECENTN_TEST_MYSQL_IMAGE', image: 'mysql:9.7' },
}

/**
 * `settings` are further options of the server, such as `--innodb-buffer-pool-size=1G`. `memory` keeps its data in
 * memory: its settings, and so its statements, are those of a durable server, but no commit waits for a disk. With
 * `megabytes` its disk has only this many.
 */
export async function dockerServer(
  engine: ServerEngine,
  settings: string[] = [],
  { memory = false, megabytes }: DataPlace = {},
): Promise<Server> {
  const image = process.env[IMAGES[engine].variable] || IMAGES[engine].image
  await ensureImage(image)
  const name = `recentn-test-${engine}-${randomBytes(6).toString('hex')}`
  const release = guardContainer(name)
  try {
    const container = await startContainer(engine, image, name, settings, tmpfsOf(memory, megabytes))
    const url = new URL(container.getConnectionUri(true))
    url.pathname = '/'
    const direct = new URL(url)
    direct.host = `${container.getIpAddress(container.getNetworkNames()[0] ?? 'bridge')}:3306`
    return {
      url: url.toString(),
      directUrl: direct.toString(),
      origin: `Docker image ${image}`,
      stop: async () => {
        await container.stop({ timeout: 0 })
        release()
      },
    }
  } catch (error) {
    throw new Error(`the container of ${image} did not start: ${messageOf(error)}`)
  }
}

/** A server in a container that may be killed and started again: its port and its data stay. */
export async function breakableContainer(engine: ServerEngine, settings: string[] = []): Promise<BreakableServer> {
  const { variable, image: usual } = IMAGES[engine]
  const image = process.env[variable] || usual
  if (findProgram('docker') === null) throw new Error('there is no docker program')
  await ensureImage(image)
  const name = `recentn-faults-${engine}-${randomBytes(6).toString('hex')}`
  const password = randomBytes(12).toString('hex')
  const port = await freePort()
  const url = `mysql://root:${password}@127.0.0.1:${port}/`
  const docker = (...words: string[]) => run('docker', words).then(() => {})
  // In memory where this process may remove what the server writes there.
  const memory = process.getuid?.() === 0 ? memoryFolder() : null
  const folder = memory && mkdtempSync(join(memory, 'recentn-faults-'))
  const release = whenKilled('docker rm -fv "$1"; [ -z "$2" ] || rm -rf "$2"', [name, folder ?? ''])
  const stop = async () => {
    await docker('rm', '-fv', name)
    if (folder) rmSync(folder, { recursive: true, force: true })
    release()
  }
  const variables = [`MARIADB_ROOT_PASSWORD=${password}`, `MYSQL_ROOT_PASSWORD=${password}`].flatMap((one) => [
    '-e',
    one,
  ])
  const data = folder ? ['-v', `${folder}:/var/lib/mysql`] : []
  const options = ['--max-connections=500', '--skip-name-resolve', ...settings]
  try {
    await docker('run', '-d', '--name', name, '-p', `127.0.0.1:${port}:3306`, ...variables, ...data, image, ...options)
    await awaitVersion(url, 120)
  } catch (error) {
    await stop().catch(() => {})
    throw new Error(`the container of ${image} did not start: ${messageOf(error)}`)
  }
  return {
    url,
    origin: `Docker image ${image}`,
    stop,
    kill: () => docker('kill', name),
    start: () =>
      docker('start', name)
        .then(() => awaitVersion(url, 60))
        .then(() => {}),
    freeze: () => docker('kill', '--signal=STOP', name),
    thaw: () => docker('kill', '--signal=CONT', name),
  }
}

type Folders = Record<string, string>

function tmpfsOf(memory: boolean, megabytes: number | undefined): Folders {
  if (megabytes !== undefined) return { '/var/lib/mysql': `rw,size=${megabytes}m` }
  return memory ? { '/var/lib/mysql': 'rw' } : {}
}

/** MySQL starts only with the case of names that its data was made with: its program, as the image calls it, has the setting always. */
const WITH_CASES = `mkdir /tmp/with-cases
printf '#!/bin/sh\\nexec %s "$@" %s\\n' "$(command -v mysqld)" "$CASES" > /tmp/with-cases/mysqld
chmod +x /tmp/with-cases/mysqld
PATH=/tmp/with-cases:$PATH exec docker-entrypoint.sh mysqld "$@"`

async function startContainer(engine: ServerEngine, image: string, name: string, settings: string[], folders: Folders) {
  const rootPassword = randomBytes(12).toString('hex')
  const command = ['--max-connections=500', '--skip-name-resolve', ...settings]
  if (engine === 'mariadb') {
    const { MariaDbContainer } = await import('@testcontainers/mariadb')
    const container = new MariaDbContainer(image).withRootPassword(rootPassword)
    return container.withName(name).withTmpFs(folders).withCommand(command).start()
  }
  const { MySqlContainer } = await import('@testcontainers/mysql')
  const container = new MySqlContainer(image).withRootPassword(rootPassword)
  const cases = settings.find((one) => one.startsWith('--lower-case-table-names'))
  if (cases) container.withEntrypoint(['sh', '-c', WITH_CASES, 'sh']).withEnvironment({ CASES: cases })
  return container.withName(name).withTmpFs(folders).withCommand(command).start()
}

/**
 * With the docker program at hand our own guard removes the container of a killed run, and the container that
 * testcontainers would start for that (one more image to pull) isn't needed.
 */
function guardContainer(name: string): () => void {
  if (findProgram('docker') === null) return () => {}
  process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true'
  return whenKilled('docker rm -fv "$1"', [name])
}

async function ensureImage(image: string): Promise<void> {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers')
  const client = await within(15, getContainerRuntimeClient()).catch(() => {
    throw new Error('no Docker engine answers')
  })
  const name = ImageName.fromString(image)
  if (await client.image.exists(name)) return
  process.stderr.write(`pulling the Docker image ${image} …\n`)
  await within(PULL_SECONDS, client.image.pull(name)).catch((error) => {
    throw new Error(`the Docker image ${image} is not here and can't be pulled: ${messageOf(error)}`)
  })
}

async function within<T>(seconds: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing within ${seconds} s`)), seconds * 1000)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
