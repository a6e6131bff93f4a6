// The file that processes under fire append to, a line for each thing that happened, before they continue. A reader may see
// the half of a line, and a kill may leave one behind (the kernel writes a page at a time). Each line ends with a dot, and
// begins on a new line. ledger-lines.ts reads them.
import { openSync, writeSync } from 'node:fs'

export function openLedger(file) {
  const output = openSync(file, 'a')
  return {
    /** Lines that are written at once, without the other processes' lines in between. */
    noteAll: (lines) => void writeSync(output, `\n${lines.map((line) => `${line} .\n`).join('')}`),
    note: (...words) => void writeSync(output, `\n${words.join(' ')} .\n`),
  }
}
