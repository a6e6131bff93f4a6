/**
 * Features that a version of a server does not have yet. A test that needs it says so by name, and tests there what the older
 * server does in its place.
 */
import { engineOf, type ServerEngine } from './server'

type Version = readonly [major: number, minor: number]

/** The version that each engine has it from. */
const SINCE = {
  /** A server without a certificate makes one for itself, and so can encrypt. */
  'its own certificate': { mariadb: [11, 4], mysql: [5, 7] },
  /** The column type VECTOR. */
  vectors: { mariadb: [11, 7], mysql: [9, 0] },
} as const satisfies Record<string, Record<ServerEngine, Version>>

/** Whether a server whose `SELECT VERSION()` is this lacks it. */
export function lacks(version: string, what: keyof typeof SINCE): boolean {
  const [major, minor] = SINCE[what][engineOf(version)]
  const found = /^(\d+)\.(\d+)/.exec(version)
  if (found === null) throw new Error(`${version} is not the version of a server`)
  return Number(found[1]) < major || (Number(found[1]) === major && Number(found[2]) < minor)
}
