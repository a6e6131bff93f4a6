/** Asks on a terminal before something is deleted. */
import { createInterface } from 'node:readline/promises'
import { RecentnError } from '../shared/errors'
import { printable } from './printed'

interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  output: NodeJS.WritableStream & { isTTY?: boolean }
}

/**
 * Resolves once the user has answered "y" or "yes". Throws `forbidden` for any other answer, and `invalid_input` where there
 * is no terminal.
 */
export async function confirm(
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (!input.isTTY || !output.isTTY) {
    throw new RecentnError('invalid_input', 'nothing was deleted: without a terminal to ask on, this needs --yes')
  }
  const asking = createInterface({ input, output })
  // The end of the input (Ctrl-D) and Ctrl-C are answers too.
  const ended = new Promise<string>((resolve) => asking.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([asking.question(`${printable(question)} [y/N] `), ended])
    if (!/^y(es)?$/i.test(answer.trim())) throw new RecentnError('forbidden', 'nothing was deleted')
  } finally {
    asking.close()
  }
}
