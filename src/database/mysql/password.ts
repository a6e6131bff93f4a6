/**
 * Passwords that change: a function gives the password of each new connection of our own.
 *
 * Invariant: the function is asked before the connection is opened, and its time does not count as the server's. Its error is
 * that of a database that is away, and moves a store with several hosts to no other one.
 */
import { Socket } from 'node:net'
import { endsWithin } from '../../shared/backoff'
import { CLOCK, outside } from '../../shared/platform'
import { safeMessage } from '../../shared/safe-text'
import { driverError } from '../engine'
import type { ServerHost } from './server-hosts'

export type PasswordFunction = () => string | Promise<string>

export const PASSWORD_MS = 5000

const REFUSED = new Set([1045, 1698, 1862])

export const isRefusedPassword = (error: unknown) => REFUSED.has(driverError(error).errno ?? 0)

/** No password: no connection is made, as if the database were away. */
class NoPassword extends Error {
  readonly fatal = true
}

async function asked(ask: PasswordFunction): Promise<string> {
  try {
    const answer = outside(async () => ask())
    if (!(await endsWithin(CLOCK, PASSWORD_MS, answer))) throw new Error(`no answer within ${PASSWORD_MS / 1000} s`)
    const given: unknown = await answer
    if (typeof given !== 'string') throw new Error('its answer is not a text')
    return given
  } catch (error) {
    throw new NoPassword(
      `the function of the password has failed: ${error instanceof Error ? safeMessage(error) : error}`,
      { cause: error },
    )
  }
}

interface LoginOptions extends ServerHost {
  password: string
}

/** The `stream` of mysql2, which connects once it has its password. `connectMs`: how long the server may take to greet it. */
export function streamWithPassword(
  ask: PasswordFunction,
  connectMs: number,
  connect: (to: { config: LoginOptions }, socket: Socket) => void,
): (to: { config: LoginOptions }) => Socket {
  return (to) => {
    const socket = new Socket()
    const open = (password: string) => {
      if (socket.destroyed) return
      to.config.password = password
      const late = Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' })
      socket.setTimeout(connectMs, () => socket.destroy(late))
      socket.once('data', () => socket.setTimeout(0))
      connect(to, socket)
    }
    asked(ask).then(open, (error: Error) => socket.destroy(error))
    return socket
  }
}

/** Tokens of clouds are sent as they are, which mysql2 does by a plugin alone. Used on encrypted connections. */
export const sendsTokens = {
  mysql_clear_password:
    ({ connection }: { connection: { config: LoginOptions } }) =>
    () =>
      Buffer.from(`${connection.config.password}\0`),
}
