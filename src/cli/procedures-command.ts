/** `recentn procedures`: prints the SQL of stored procedures (`repositories/door/procedures.ts`). */
import type { Command } from 'commander'
import { readConfig } from '../http/process/config'
import { proceduresSql } from '../store/open'
import { described } from './verbs'

export function addProceduresCommand(program: Command): void {
  described(program, 'procedures', 'print stored procedures for MySQL and MariaDB that send and append').action(() => {
    const { RECENTN_TABLE_PREFIX } = process.env
    const { tablePrefix } = readConfig(RECENTN_TABLE_PREFIX === undefined ? {} : { RECENTN_TABLE_PREFIX })
    process.stdout.write(proceduresSql(tablePrefix))
  })
}
