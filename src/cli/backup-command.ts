/** `recentn backup` and `recentn restore`: copies of a SQLite file that are whole. */
import { existsSync } from 'node:fs'
import type { Command, Option } from 'commander'
import type { Config } from '../http/process/config'
import { withoutSecretsIn } from '../http/secrets'
import { backUp, fileOf, restore } from '../store/open'
import { confirm } from './confirm'
import { described } from './verbs'

interface BackupFlags {
  databaseUrl?: string
}

export function addBackupCommands(
  program: Command,
  databaseOption: () => Option,
  configOf: (flags: BackupFlags) => Config,
): void {
  described(program, 'backup <file>', 'copy a SQLite database into a new file, while it is in use')
    .addOption(databaseOption())
    .action(async (file: string, flags: BackupFlags) => {
      const { databaseUrl, tablePrefix } = configOf(flags)
      const source = fileOf(databaseUrl)
      await backUp(source, file, tablePrefix)
      process.stdout.write(withoutSecretsIn(`${source} is copied to ${file}\n`))
    })
  described(program, 'restore <file>', 'put a backup in the place of a SQLite database that no process has open')
    .addOption(databaseOption())
    .option('--yes', 'replace a database that is there, without asking')
    .action(async (file: string, flags: BackupFlags & { yes?: boolean }) => {
      const { databaseUrl, tablePrefix } = configOf(flags)
      const target = fileOf(databaseUrl)
      if (existsSync(target) && !flags.yes) await confirm(`Replace ${target} by ${file}?`)
      restore(target, file, tablePrefix)
      process.stdout.write(withoutSecretsIn(`${target} is what ${file} has\n`))
    })
}
