/** `recentn backup` and `recentn restore`: copies of a SQLite file that are whole. */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { withoutSecretsIn } from '../http/secrets'
import { backUp, fileOf, restore } from '../store/open'
import { confirm } from './confirm'
import { type CommandKit, type DatabaseFlags, described } from './verbs'

export function addBackupCommands(program: Command, { databaseOption, configOf }: CommandKit): void {
  described(program, 'backup <file>', 'copy a SQLite database into a new file, while it is in use')
    .addOption(databaseOption())
    .action(async (file: string, flags: DatabaseFlags) => {
      const { databaseUrl, tablePrefix } = configOf(flags)
      const source = fileOf(databaseUrl)
      await backUp(source, file, tablePrefix)
      process.stdout.write(withoutSecretsIn(`${source} is copied to ${file}\n`))
    })
  described(program, 'restore <file>', 'put a backup in the place of a SQLite database that no process has open')
    .addOption(databaseOption())
    .option('--yes', 'replace a database that is there, without asking')
    .action(async (file: string, flags: DatabaseFlags & { yes?: boolean }) => {
      const { databaseUrl, tablePrefix } = configOf(flags)
      const target = fileOf(databaseUrl)
      if (existsSync(target) && !flags.yes) await confirm(`Replace ${target} by ${file}?`)
      restore(target, file, tablePrefix)
      process.stdout.write(withoutSecretsIn(`${target} is what ${file} has\n`))
    })
}
