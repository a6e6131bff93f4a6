import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** The words of each line that is whole, of a file that processes under fire append to (ledger-file.mjs). */
export function linesOf(file: string): string[][] {
  if (!existsSync(file)) return []
  const whole = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith(' .'))
  return whole.map((line) => line.split(' ').slice(0, -1))
}

/** The lines of the test itself, between the lines of the processes. */
export function appendLine(file: string, ...words: (string | number)[]): void {
  appendFileSync(file, `\n${words.join(' ')} .\n`)
}
