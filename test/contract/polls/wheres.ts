import { type Context, refusal } from '../context'
import { pollTools } from './tools'

/** The text of a where, which statements have beside other text and other parameters. */
export function describePollWheres(context: Context): void {
  const { query, tableOf, poll, numbersWhere } = pollTools(context)
  const isSqlite = context.engine === 'sqlite'
  const made = async () => {
    const columns = "id integer NOT NULL PRIMARY KEY, word varchar(20), status varchar(30) DEFAULT 'ready'"
    const name = await tableOf({ title: '', columns, row: { id: 'N' }, options: {} }, 4)
    await query(`UPDATE ${name} SET word = 'a?b' WHERE n = 1`)
    return name
  }

  describe('polls: the text of where', () => {
    it.each<[string, string | { sql: string; parameters: readonly number[] }, number[]]>([
      ['a comment at the end', 'n > 2 -- but not 2', [3]],
      [
        'question marks and quotes in comments',
        { sql: "n > ? /* why? it's so */ -- isn't it?\n AND n < ?", parameters: [0, 3] },
        [1, 2],
      ],
      ['a question mark in quotes', "word = 'a?b' OR word = 'it''s?'", [1]],
      [
        'a question mark in a name',
        { sql: `n = ? AND ${isSqlite ? '"word"' : '`word`'} = 'a?b'`, parameters: [1] },
        [1],
      ],
      ...(isSqlite
        ? []
        : ([
            ['a comment of MySQL', { sql: "n > ? # isn't it?\n", parameters: [2] }, [3]],
            ['a minus before a minus', { sql: 'n >= 1--? AND n < 9', parameters: [1] }, [2, 3]],
          ] as [string, { sql: string; parameters: number[] }, number[]][])),
    ])('may have %s', async (_, where, rows) => {
      const name = await made()
      await poll(name, () => {}, { status: 'status', where }).once()
      expect(await numbersWhere(name, "status = 'done'")).toEqual(rows)
      await poll(name, () => {}, { name: `${name} remembered`, where, sequence: 'id' }).once()
      const claims = `SELECT c.row_key FROM recentn_poll_claims c JOIN recentn_polls p ON p.id = c.poll_id WHERE p.poll = '${name} remembered'`
      expect(await query(claims)).toHaveLength(rows.length)
    })

    it.each<[string, unknown, string]>([
      ['too few parameters', { sql: 'n = ? OR n = ?', parameters: [1] }, '/where/parameters'],
      ['too many parameters', { sql: 'n = ?', parameters: [1, 2] }, '/where/parameters'],
      ['none of the parameters', 'n = ?', '/where'],
      ['a parameter in quotes', { sql: "n = '?'", parameters: [1] }, '/where/parameters'],
      ['an open quote', "n = 'a", '/where'],
      ['an open comment', { sql: 'n = 1 /* why', parameters: [] }, '/where/sql'],
      ['a backslash before a quote', "word = 'it\\'s' OR word = '?'", '/where'],
      ['a semicolon', 'n = 1); DELETE FROM recentn_polls WHERE (1 = 1', '/where'],
      ['a semicolon at the end', 'n = 1;', '/where'],
      ['a semicolon in SQL that looks like a comment', 'n = 1 /*! ; */', '/where'],
    ])('%s is refused at the start', async (_, where, pointer) => {
      const name = await made()
      const error = await refusal(poll(name, () => {}, { status: 'status', where } as never).once())
      expect(error).toMatchObject({ code: 'invalid_input', faults: [{ pointer }] })
    })
  })
}
