/** No text of a command repeats a value that may be a secret: each argument and option of each command is given some. */
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { main, program } from '../../src/cli'
import { openStore } from '../../src/store/open'
import { run, temporaryFolder } from './support'

const SECRET = 'Geheim_0123456789-abcdefghijklmnopqrstuvwxy'
const VALUES = {
  key: `rk_0123456789abcdef_${SECRET}`,
  'key with a line feed': `rk_0123456789abcdef_abc\n${SECRET}`,
  'address with a password': `http://ann:${SECRET}@127.0.0.1:1/`,
  'address with a key': `http://127.0.0.1:1/?key=${SECRET}`,
  'database with a password': `mysql://ann:${SECRET}@127.0.0.1:1/a/b`,
}
const folder = temporaryFolder()
const databaseUrl = `sqlite:${join(folder.path, 'secrets.db')}`
const root = process.cwd()
beforeAll(async () => {
  await (await openStore({ url: databaseUrl })).close()
  // A backup makes a file of the name that it is given.
  process.chdir(folder.path)
})
afterAll(() => {
  process.chdir(root)
  folder.remove()
})

/** The output of a command, run in this process. */
async function written(args: readonly string[], program: Command): Promise<string> {
  const texts: string[] = []
  const write = (text: unknown) => texts.push(String(text)) > 0
  const spies = [
    jest.spyOn(process.stdout, 'write').mockImplementation(write),
    jest.spyOn(process.stderr, 'write').mockImplementation(write),
    jest.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('exited')
    }),
    jest.spyOn(process.stdout, 'on').mockReturnThis(),
    // Nothing is typed, and nothing waits for it.
    jest.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([]) as typeof process.stdin),
  ]
  const before = process.env.DATABASE_URL
  process.env.DATABASE_URL = databaseUrl
  try {
    await main(args, program)
  } finally {
    for (const spy of spies) spy.mockRestore()
    process.exitCode = undefined
    if (before === undefined) delete process.env.DATABASE_URL
    else process.env.DATABASE_URL = before
  }
  return texts.join('')
}

interface Walked {
  path: string[]
  command: Command
}
const leaves = (command: Command, path: string[] = []): Walked[] =>
  command.commands.length === 0
    ? [{ path, command }]
    : command.commands.flatMap((inner) => leaves(inner, [...path, inner.name()]))
// A server continues: separate processes, below.
const commands = leaves(program()).filter(({ path }) => path[0] !== 'serve')

test.each(commands.map((walked) => [walked.path.join(' '), walked] as const))('%s', async (_, { path, command }) => {
  const given = command.registeredArguments.filter(({ required }) => required).map(() => '1')
  const mandatory = command.options.filter(({ mandatory }) => mandatory)
  const others = (name?: string) =>
    mandatory.flatMap(({ long, argChoices }) =>
      long === name ? [] : [long as string, argChoices?.[0] ?? (long === '--scope' ? 'read' : '1')],
    )
  const parsed = program()
  const unseen = async (args: string[]) => {
    // Jest's process keeps Node's own listener of warnings, which the command line replaces by one that cuts secrets.
    const text = (await written([...path, ...args], parsed)).replaceAll(/^\(node:\d+\) .*$/gm, '')
    expect({ args, leaks: text.includes(SECRET) || text.includes(SECRET.slice(0, 20)) }).toEqual({ args, leaks: false })
    return text
  }
  for (const value of Object.values(VALUES)) {
    for (let n = 0; n < given.length; n++) await unseen([...others(), ...given.with(n, value)])
    for (const { long, short, required } of command.options) {
      if (!required) continue
      await unseen([...others(long), (long ?? short) as string, value, ...given])
    }
    const unknown = await unseen([`--kee=${value}`, ...others(), ...given])
    expect(unknown).toContain("unknown option '--kee'")
    await unseen([...others(), ...given, value])
  }
})

test.each(['--port', '--database-url', '--host'])('serve %s', async (option) => {
  for (const value of [VALUES.key, VALUES['address with a password']]) {
    const { code, stdout, stderr } = await run(['serve', '--port', '0', option, value], {
      env: { DATABASE_URL: databaseUrl },
    })
    expect({ option, code, leaks: (stdout + stderr).includes(SECRET) }).toEqual({ option, code: 2, leaks: false })
  }
})
