import type { MigrationInterface, QueryRunner } from 'typeorm'
import { createIndex, dialect } from './dialect'

/** Polls of tables of the user's: their cursors, and the claims that have no place in the table itself. */
export class Polls1764100000000 implements MigrationInterface {
  readonly name = 'Polls1764100000000'

  async up(runner: QueryRunner): Promise<void> {
    const { name, bytes, text, serial, table, clustered } = await dialect(runner)
    await runner.query(`CREATE TABLE IF NOT EXISTS polls (
      ${serial},
      poll ${name} NOT NULL,
      cursor_value ${text} NULL,
      created_at_ms bigint NOT NULL)${table}`)
    await createIndex(runner, 'polls', 'polls_poll', 'poll', 'UNIQUE ')
    await runner.query(`CREATE TABLE IF NOT EXISTS poll_claims (
      poll_id bigint NOT NULL,
      row_key ${bytes(64)} NOT NULL,
      state smallint NOT NULL,
      due_at_ms bigint NOT NULL,
      claim_key ${bytes(22)} NOT NULL,
      attempts integer NOT NULL,
      first_claimed_at_ms bigint NOT NULL,
      row_values ${text} NOT NULL,
      error ${text} NULL,
      PRIMARY KEY (poll_id, row_key))${clustered}`)
    await createIndex(runner, 'poll_claims', 'poll_claims_due', 'poll_id, state, due_at_ms, row_key')
    await runner.query('UPDATE recentn_schema SET version = 5')
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE IF EXISTS poll_claims')
    await runner.query('DROP TABLE IF EXISTS polls')
    await runner.query('UPDATE recentn_schema SET version = 4')
  }
}
