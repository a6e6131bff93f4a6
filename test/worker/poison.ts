/** One message that kills every process which handles it: it ends in the dead letters, and takes no other with it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describeEngine, type EngineName } from '../support/engines'
import { useStore } from '../support/use-store'
import { sendNumbers, upTo } from './support'

const INNOCENT = 200
const MAX_RECEIVES = 3
const DIED = 3
/** So that nothing but the death of its process takes a message from it, however slow the machine. */
const VISIBILITY_SECONDS = 60

export function describePoison(engine: EngineName): void {
  describeEngine(engine, 'a poison message', () => {
    const at = useStore(engine, 'poison')

    it.each([
      [0, 1],
      [200, 1],
      [200, 20],
    ])(
      'that kills after %s ms is dead after maxReceives; all others are done, %s at once',
      async (dieAfterMs, size) => {
        const queue = `poison-${dieAfterMs}-${size}`
        const ledger = path.join(at.folder, queue)
        await at.store.queues.put(`${queue}-dead`)
        await at.store.queues.put(queue, {
          visibilityTimeoutSeconds: VISIBILITY_SECONDS,
          maxReceives: MAX_RECEIVES,
          deadLetterQueue: `${queue}-dead`,
        })
        await sendNumbers(at.store, queue, INNOCENT / 2)
        const { id } = await at.store.queues.send(queue, 'poison')
        await sendNumbers(at.store, queue, INNOCENT / 2, INNOCENT / 2)

        const exits: (number | null)[] = []
        while (exits.at(-1) !== 0 && exits.length <= MAX_RECEIVES) {
          const script = path.join(__dirname, 'poison-child.mjs')
          // For each process what the one before had has just run out.
          const clockOffsetMs = exits.length * (VISIBILITY_SECONDS + 1) * 1000
          const child = spawn(
            process.execPath,
            [script, at.url, queue, ledger, String(dieAfterMs), String(clockOffsetMs), String(size)],
            {
              stdio: ['ignore', 'inherit', 'inherit'],
            },
          )
          const [code] = (await once(child, 'exit')) as [number | null]
          exits.push(code)
        }
        const lines = readFileSync(ledger, 'utf8').trim().split('\n')
        expect(lines.filter((line) => line.startsWith('died'))).toEqual(['died 1', 'died 2', 'died 3'])
        expect(exits).toEqual([DIED, DIED, DIED, 0])
        const letters = (await at.store.queues.peek(`${queue}-dead`)).messages
        expect(letters.map(({ body }) => body)).toEqual(['poison'])
        expect(letters[0]?.id).toBe(id)
        const done = new Set(lines.filter((line) => line.startsWith('done')).map((line) => Number(line.slice(5))))
        expect([...done].sort((a, b) => a - b)).toEqual(upTo(INNOCENT))
      },
    )
  })
}
