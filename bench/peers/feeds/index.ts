/** Who takes part in the workloads of feeds, recentn first; what each does is said there. */
import type { EngineName, Participant } from '../../types'

const CONTENDERS: readonly Participant[] = [
  { name: 'recentn', title: 'recentn', server: 'engine', how: 'store.feeds of one process' },
  {
    name: 'stored',
    title: 'recentn, cursor stored after each page',
    server: 'engine',
    how: 'store.feeds with a consumer',
  },
  {
    name: 'apart',
    title: "recentn, published by the consumer's process",
    server: 'engine',
    how: 'the store that writes has publish: false',
  },
  {
    name: 'scattered',
    title: 'recentn, entries among the others',
    server: 'engine',
    how: 'store.feeds of one process',
  },
  { name: 'few', title: 'recentn, few published before', server: 'engine', how: 'store.feeds of one process' },
  { name: 'article', title: 'by hand, one a transaction', server: 'engine', how: 'the recipe as it was published' },
  { name: 'batched', title: 'by hand, 500 a transaction', server: 'engine', how: 'two UPDATEs for each entry' },
  {
    name: 'limit',
    title: "the database's limit",
    server: 'engine',
    how: "recentn's entries numbered by the leanest statements, 1,000 in one round trip",
  },
  { name: 'select', title: 'SELECT by hand', server: 'engine', how: "mysql2 and JSON.parse, on recentn's table" },
]
const ONLY_SERVERS = ['article', 'batched', 'select']

export function feedContendersOn(engine: EngineName): Participant[] {
  return CONTENDERS.filter(({ name }) => engine !== 'sqlite' || !ONLY_SERVERS.includes(name))
}

export function feedContenderNamed(name: string): Participant {
  const found = CONTENDERS.find((contender) => contender.name === name)
  if (found === undefined) throw new Error(`no contender with a feed is named ${name}`)
  return found
}
