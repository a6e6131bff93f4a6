/** The options of `npm run bench`. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { milliseconds } from './network'
import { ENGINES, type EngineName } from './types'
import { WORKLOADS, workloadNamed } from './workloads'
import type { Workload } from './workloads/workload'

export interface Options {
  engine: EngineName
  peers: 'default' | 'all'
  workloads: readonly Workload[]
  /** Of each workload; null for all. A run of some is not kept. */
  contenders: readonly string[] | null
  seconds: number
  rounds: number
  quick: boolean
  /** Milliseconds each way between every contender and its server; null for the loopback as it is. */
  network: number | null
  /** Further options of the SQL server; such a run's figures are not kept. */
  settings: readonly string[]
  scale: boolean
  /** Of --scale. */
  sizes: readonly number[]
  capacities: readonly number[]
  docs: boolean
  /** As it was asked for, for the report. */
  command: string
}

export function readOptions(argv: readonly string[]): Options {
  const names = WORKLOADS.map(({ name }) => name).join(', ')
  const program = new Command('npm run bench --')
    .description(
      'Measures recentn against its peers, which it gets and starts by itself; nothing outside of the project and the temporary folder is touched.',
    )
    .addOption(new Option('--engine <name>', 'what recentn runs on').choices(ENGINES).default('mariadb'))
    .addOption(
      new Option('--peers <which>', 'all: PostgreSQL and its queues as well')
        .choices(['default', 'all'])
        .default('default'),
    )
    .option('--only <workloads>', `some of ${names}; with commas between`)
    .option('--contenders <names>', `some of ${contenderNames().join(', ')}; the figures are not kept`, contenders)
    .option('--seconds <n>', 'measured time of each run', positive, 5)
    .option('--rounds <n>', 'runs of each contender, in turn with the others; the report has their median', positive, 3)
    .option('--network <ms>', 'a network of as many milliseconds each way before every server', milliseconds)
    .option('--settings <options>', 'of the MariaDB or MySQL server, such as skip-log-bin,sync-binlog=0', settings, [])
    .option('--quick', 'a smoke run: every workload for a moment, checked; its figures say nothing and are not kept')
    .option('--scale', 'small and large tables compared, and the indexes with and without, in place of the workloads')
    .option('--sizes <items>', 'with --scale: how many items are there', numbers, [10_000, 1_000_000, 10_000_000])
    .option('--capacities <n>', 'with --scale: of the groups', numbers, [10, 100, 1000])
    .option('--docs', 'run nothing: put the figures that are kept into bench/results/figures.md')
    .helpOption('-h, --help', 'this text')
    .parse(argv as string[], { from: 'user' })
  const given = program.opts<Omit<Options, 'workloads'> & { only?: string }>()
  const quick = given.quick ?? false
  if (given.scale && given.network !== undefined) program.error('--scale has no network: leave out one of the two')
  if (given.settings.length > 0 && given.engine === 'sqlite') program.error('SQLite is no server: it has no --settings')
  if (given.scale && given.engine !== 'mariadb') program.error('--scale fills the tables by what only MariaDB has')
  return {
    ...given,
    quick,
    contenders: given.contenders ?? null,
    network: given.network ?? null,
    scale: given.scale ?? false,
    docs: given.docs ?? false,
    seconds: quick ? 0.3 : given.seconds,
    rounds: quick ? 1 : given.rounds,
    sizes: quick ? [1000, 10_000] : given.sizes,
    capacities: quick ? [10] : given.capacities,
    workloads: chosen(given.only),
    command: `npm run bench${argv.length > 0 ? ` -- ${argv.join(' ')}` : ''}`,
  }
}

function chosen(only: string | undefined): readonly Workload[] {
  if (only === undefined) return WORKLOADS
  const wanted = only.split(',').map((name) => workloadNamed(name.trim()))
  return WORKLOADS.filter((workload) => wanted.includes(workload))
}

function contenderNames(): string[] {
  return [...new Set(WORKLOADS.flatMap(({ contenders }) => contenders))]
}

function contenders(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !contenderNames().includes(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`no contender is named ${JSON.stringify(unknown)}`)
  return names
}

function positive(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 3600)) throw new InvalidArgumentError('must be a number above 0, up to 3600')
  return value
}

function settings(text: string): string[] {
  const options = text.split(',').map((option) => option.trim().replace(/^--/, ''))
  const isOption = (option: string) => /^[a-z][a-z0-9_-]*(=[\w.:/-]+)?$/i.test(option)
  if (!options.every(isOption)) throw new InvalidArgumentError('must be name or name=value, with commas between')
  return options.map((option) => `--${option}`)
}

function numbers(text: string): number[] {
  const values = text.split(',').map(Number)
  const good = values.every((value) => Number.isInteger(value) && value >= 10 && value <= 100_000_000)
  if (!good) throw new InvalidArgumentError('must be whole numbers from 10, with commas between')
  return values
}
