/** No value of a statement reaches a log, whichever way a driver reports it. */
import express from 'express'
import { openLog } from '../../src/http/process/log'
import { createRouter } from '../../src/http/router'
import { safeStack, safeText } from '../../src/shared/safe-text'
import { openStore } from '../../src/store/open'
import { freshDatabase } from '../support/engines'
import { memoryStore, send, serving } from './support/client'
import { served } from './support/keys'

const VALUE = "somebody's 'secret' diary"
const TOLD = /somebody|secret|diary/

describe.each(served)('an error of the driver, on %s', (engine) => {
  test('is logged without the statement and the values in it', async () => {
    const { url, drop } = await freshDatabase(engine)
    const store = await openStore({ url, sweep: false, publish: false })
    const { dataSource } = store
    const errorOf = (sql: string, values: unknown[] = []) =>
      dataSource.query(sql, values).then(
        () => null,
        (error: Error) => error,
      )
    await dataSource.query('CREATE TABLE diaries (title VARCHAR(100) PRIMARY KEY, pages INT)')
    await dataSource.query('INSERT INTO diaries VALUES (?, 1)', [VALUE])
    const literal = `'${VALUE.replaceAll("'", "''")}'`
    const errors = [
      await errorOf('INSERT INTO diaries VALUES (?, 1)', [VALUE]),
      await errorOf(`INSERT INTO diaries VALUES (${literal}, 1)`),
      await errorOf(`SELECT title FROM diaries WHERE title = = ${literal}`),
      await errorOf(`SELECT ${literal.replaceAll("'", '')} FROM diaries`),
      await errorOf(`INSERT INTO diaries VALUES ('x', ${literal} + `),
    ]
    const missing = await errorOf('SELECT 1 FROM no_diary')
    await store.close()
    await drop()
    const written = jest.spyOn(process.stderr, 'write').mockImplementation(() => true)
    // As in a process: one log, which listens to the outputs for ever.
    const log = openLog('text', 'info')
    for (const error of errors) log.error('GET /x (request 1)', error, {})
    const said = written.mock.calls.map(([text]) => String(text))
    written.mockRestore()
    for (const [n, error] of errors.entries()) {
      expect([n, error]).toEqual([n, expect.any(Error)])
      const stack = safeStack(error as Error) ?? ''
      for (const text of [safeText(error), stack, said[n] as string]) expect(text).not.toMatch(TOLD)
      expect(stack).toMatch(/\n\s+at /)
    }
    // A text that says what is wrong, and is no user's value, is logged.
    expect(safeText(missing)).toMatch(/no_diary/)
  })
})

test('a router without onError writes no values either', async () => {
  const written = jest.spyOn(console, 'error').mockImplementation(() => {})
  const driverError = Object.assign(new Error(`Duplicate entry '${VALUE}' for key 'x'`), {
    code: 'ER_DUP_ENTRY',
    sql: `INSERT ${VALUE}`,
    parameters: [VALUE],
  })
  const access = () => {
    throw driverError
  }
  const url = await serving(express().use(createRouter(await memoryStore(), { access })))
  expect((await send(url, 'GET', '/v1/groups', {})).status).toBe(500)
  const said = JSON.stringify(written.mock.calls)
  written.mockRestore()
  expect(said).toContain('Duplicate entry')
  expect(said).not.toMatch(TOLD)
})

test('an error that comes from no driver is logged as it is', () => {
  expect(safeText(new TypeError("can't read 'x'"))).toBe("TypeError: can't read 'x'")
  expect(safeText('text')).toBe('text')
})
