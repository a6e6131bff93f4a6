/**
 * Stored procedures that insert into the tables of the door, for an account that may create routines to make. No migration makes
 * them: a store's own account needs no more rights for them, and whoever gives rights sees what they are for.
 */
import { tablesOf } from '../../database/tables'

/** Each body is one statement, so that a client needs no other delimiter. Texts have the character set of the tables. */
export function proceduresSql(tablePrefix?: string): string {
  const { prefix, sends, appends } = tablesOf(tablePrefix)
  const name = 'VARCHAR(191) CHARACTER SET utf8mb4'
  const json = 'MEDIUMTEXT CHARACTER SET utf8mb4'
  return `DROP PROCEDURE IF EXISTS ${prefix}send;
CREATE PROCEDURE ${prefix}send(IN to_queue ${name}, IN json_body ${json})
  MODIFIES SQL DATA
  INSERT INTO ${sends} (queue, body) VALUES (to_queue, json_body);
DROP PROCEDURE IF EXISTS ${prefix}append;
CREATE PROCEDURE ${prefix}append(IN to_group ${name}, IN of_member ${name}, IN json_payload ${json})
  MODIFIES SQL DATA
  INSERT INTO ${appends} (group_key, member, payload) VALUES (to_group, of_member, json_payload);
`
}
