/** A database server out of the distribution's own packages: a private copy, nothing installed. */
import { join } from 'node:path'
import { type PrivateCopy, privateCopy } from './debian'
import { isExecutable } from './find-program'
import { type Installation, startPrivately } from './program'
import type { BreakableServer, DataPlace, ServerEngine } from './server'

const PACKAGES: Record<ServerEngine, { main: string; others: string[] }> = {
  mariadb: { main: 'mariadb-server-core', others: ['mariadb-client-core', 'mariadb-common'] },
  mysql: { main: 'mysql-server-core', others: [] },
}

/** `settings` are further options of the server, such as `--innodb-buffer-pool-size=1G`. */
export async function packagesServer(
  engine: ServerEngine,
  settings: string[] = [],
  place: DataPlace = {},
): Promise<BreakableServer> {
  const copy = await privateCopy({ label: engine, ...PACKAGES[engine] })
  return startPrivately(installationIn(copy, engine), settings, place)
}

function installationIn({ root, origin, env }: PrivateCopy, engine: ServerEngine): Installation {
  const program = ['mariadbd', 'mysqld'].map((name) => join(root, 'usr/sbin', name)).find(isExecutable)
  if (program === undefined) throw new Error(`${root} has no server program; remove that folder`)
  const installer = join(root, 'usr/bin/mariadb-install-db')
  return { engine, program, origin, installer, options: [`--basedir=${join(root, 'usr')}`], env }
}
