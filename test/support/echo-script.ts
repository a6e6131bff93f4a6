/** For the test of `spawnScript`: echoes the lines that it gets, and what it was started with. */
import { createInterface } from 'node:readline'
import { invalidInput } from '../../src/shared/errors'

const print = (value: unknown) => console.log(JSON.stringify(value))

print({ args: process.argv.slice(2), word: process.env.WORD, source: require.resolve('../../src/shared/errors') })
createInterface({ input: process.stdin }).on('line', (line) => {
  const value: unknown = JSON.parse(line)
  if (value === 'end') process.exit(0)
  if (value === 'fail') throw invalidInput([{ pointer: '/word', detail: 'was told to fail' }])
  print({ echo: value })
})
