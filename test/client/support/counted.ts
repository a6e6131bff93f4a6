import type { Handler } from '../../../src/client'

/** A handler, and how many of it ran at the same time at most: of all messages, and of one. */
export function counted<Body>(handler: Handler<Body>): {
  counting: Handler<Body>
  most: { handlers: number; ofOne: number }
} {
  const running: bigint[] = []
  const most = { handlers: 0, ofOne: 0 }
  const counting: Handler<Body> = async (message, context) => {
    running.push(message.id)
    most.handlers = Math.max(most.handlers, running.length)
    most.ofOne = Math.max(most.ofOne, running.filter((id) => id === message.id).length)
    try {
      return await handler(message, context)
    } finally {
      running.splice(running.indexOf(message.id), 1)
    }
  }
  return { counting, most }
}
