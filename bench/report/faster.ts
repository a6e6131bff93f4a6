/** Where others are faster than recentn, and which figures are older than the newest release: both out of the figures alone. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Measured, type Results, ratiosOf } from './results'
import { digits, table } from './table'

interface Release {
  version: string
  /** As the changelog writes it: 2026-11-21. */
  date: string
}

/** The first release below `Unreleased`. */
export function newestRelease(changelog: string): Release | null {
  const [, version, date] = /^## \[(\d[^\]]*)\] - (\d{4}-\d{2}-\d{2})/m.exec(changelog) ?? []
  return version && date ? { version, date } : null
}

const RELEASE = newestRelease(readFileSync(resolve(__dirname, '../../CHANGELOG.md'), 'utf8'))

/** What stands behind a figure that was measured before the release: it may not be true of it. */
export function ageMark({ date }: Pick<Measured, 'date'>, release = RELEASE): string {
  return release && date.slice(0, 10) < release.date ? ` (before ${release.version})` : ''
}

export interface Faster {
  peer: string
  /** How many times as fast as recentn. */
  factor: number
}

/** The peers that are faster, the fastest first: not the database's limit, not recentn in another way, not what is wrong. */
export function fasterPeers(measured: Measured): Faster[] {
  const isPeer = ({ peer, peerTitle }: { peer: string; peerTitle: string }) =>
    peer !== 'limit' && !/^recentn\b/.test(peerTitle) && !noteOf(measured, peer).startsWith('NOT CORRECT')
  return ratiosOf(measured)
    .filter(isPeer)
    .map(({ peerTitle, ratio }) => ({ peer: peerTitle, factor: measured.lowerIsBetter ? ratio : 1 / ratio }))
    .filter(({ factor }) => factor > 1)
    .sort((a, b) => b.factor - a.factor)
}

function noteOf({ lines }: Measured, contender: string): string {
  return lines.find((line) => line.contender === contender)?.note ?? ''
}

/** A row for each workload in which a peer is faster somewhere, a column for each of the results. */
export function fasterTable(kept: readonly { title: string; results: Results }[]): string {
  const workloads = new Set(kept.flatMap(({ results }) => results.measured.map(({ workload }) => workload)))
  const rows = [...workloads].map((workload) => [
    `\`${workload}\``,
    ...kept.map(({ results }) => cellOf(results.measured.find((each) => each.workload === workload))),
  ])
  const heads = ['workload', ...kept.map(({ title }) => title)]
  const some = rows.filter(([, ...cells]) => cells.some((cell) => cell !== ''))
  return some.length === 0 ? 'Nowhere.' : table(heads, some)
}

function cellOf(measured: Measured | undefined): string {
  if (measured === undefined) return ''
  const faster = fasterPeers(measured)
  if (faster.length === 0) return ''
  return `${faster.map(({ peer, factor }) => `${peer} ${digits(factor)}×`).join('; ')}${ageMark(measured)}`
}
