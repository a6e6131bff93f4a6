import { type Database, describeEngine, freshDatabase } from '../support/engines'
import { expectNothingLost, putFirstSettings } from './ring'

// A machine that does other things as well takes a multiple of the usual ten seconds.
jest.setTimeout(180_000)

describeEngine('sqlite', 'the ring under fire', () => {
  let database: Database

  beforeEach(async () => {
    database = await freshDatabase('sqlite')
    await putFirstSettings(database.url)
  })

  afterEach(() => database.drop())

  test.each([
    { groups: 1, operations: 30, batch: 6 },
    { groups: 10, operations: 40, batch: 10 },
    { groups: 1000, operations: 25, batch: 20 },
  ])('$groups group(s), 64 loops in one process that also changes settings and erases', async (size) => {
    await expectNothingLost(database.url, { ...size, processes: 1, loops: 64, alone: true })
  })

  test('several processes append to one file together, while another changes settings and erases', async () => {
    await expectNothingLost(database.url, { groups: 10, operations: 60, batch: 10, processes: 4, loops: 8 })
  })
})
