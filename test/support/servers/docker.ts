/** A server in a container, through testcontainers, where a Docker engine answers. */
import { randomBytes } from 'node:crypto'
import { findProgram } from './find-program'
import { whenKilled } from './guard'
import { type DataPlace, messageOf, type Server, type ServerEngine } from './server'

/** A pull that takes longer is given up: the next source is faster. */
const PULL_SECONDS = 180

const IMAGES: Record<ServerEngine, { variable: string; image: string }> = {
  mariadb: { variable: 'RECENTN_TEST_MARIADB_IMAGE', image: 'mariadb:11.8' },
  mysql: { variable: 'RECENTN_TEST_MYSQL_IMAGE', image: 'mysql:9.7' },
}

/**
 * `settings` are further options of the server, such as `--innodb-buffer-pool-size=1G`. `memory` keeps its data in
 * memory: its settings, and so its statements, are those of a durable server, but no commit waits for a disk. With
 * `megabytes` its disk has only so many.
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

type Folders = Record<string, string>

function tmpfsOf(memory: boolean, megabytes: number | undefined): Folders {
  if (megabytes !== undefined) return { '/var/lib/mysql': `rw,size=${megabytes}m` }
  return memory ? { '/var/lib/mysql': 'rw' } : {}
}

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
