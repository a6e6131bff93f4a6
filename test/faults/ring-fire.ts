/** The ring under fire on a server: a file for each engine calls this, so that the two run side by side. */

import { expectNothingLost, putFirstSettings } from '../races/ring'
import { type Database, describeEngine, freshDatabase } from '../support/engines'

// A machine that does other things as well takes a multiple of the usual ten seconds.
jest.setTimeout(180_000)

export interface RingFireSize {
  groups: number
  operations: number
  batch: number
}

export function describeRingFire(engine: 'mariadb' | 'mysql', sizes: readonly RingFireSize[]): void {
  describeEngine(engine, '4 processes × 16 connections append while another changes settings and erases', () => {
    let database: Database

    beforeAll(async () => {
      database = await freshDatabase(engine)
      await putFirstSettings(database.url)
    })

    afterAll(() => database.drop())

    test.each(sizes)(
      '$groups group(s): every append has its own id, none is lost, no caller sees an error',
      async (size) => {
        await expectNothingLost(database.url, { ...size, processes: 4, loops: 16 })
      },
    )
  })
}
