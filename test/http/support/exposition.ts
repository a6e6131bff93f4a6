/** A strict reader of the text format of Prometheus: whatever it would not accept is thrown. */

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LINE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`)
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/y
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]?Inf|NaN)$/i

export function parsedMetrics(text: string): Sample[] {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const types = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line)
    if (comment) {
      const [, kind, name, rest] = comment as unknown as [string, string, string, string]
      if (kind === 'TYPE' && types.has(name)) throw new Error(`${name} is declared twice`)
      if (kind === 'TYPE') types.set(name, rest)
    } else samples.push(sampleOf(line))
  }
  for (const { name } of samples) {
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
    if (!types.has(family)) throw new Error(`${name} has no TYPE`)
    if (types.get(family) === 'counter' && !name.endsWith('_total')) throw new Error(`${name} is a counter`)
  }
  checkHistograms(samples, types)
  const keys = samples.map(({ name, labels }) => JSON.stringify([name, Object.entries(labels).sort()]))
  if (new Set(keys).size !== keys.length) throw new Error('a series is there twice')
  return samples
}

function sampleOf(line: string): Sample {
  const [, name, inside = '', value = ''] = LINE.exec(line) ?? []
  if (name === undefined || !NUMBER.test(value)) throw new Error(`no line of Prometheus: ${line}`)
  const labels: Record<string, string> = {}
  for (LABEL.lastIndex = 0; LABEL.lastIndex < inside.length; ) {
    const [, label, text] = LABEL.exec(inside) ?? []
    if (label === undefined || text === undefined || label in labels) throw new Error(`labels of ${line}`)
    labels[label] = text
  }
  return { name, labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) }
}

/** Buckets only grow, the last one is everything. */
function checkHistograms(samples: readonly Sample[], types: ReadonlyMap<string, string>): void {
  for (const [family] of [...types].filter(([, type]) => type === 'histogram')) {
    const series = new Map<string, number>()
    for (const { name, labels, value } of samples) {
      const { le, ...others } = labels
      const key = JSON.stringify(others)
      if (name === `${family}_bucket`) {
        if (value < (series.get(key) ?? 0)) throw new Error(`${family} falls at ${le}`)
        series.set(key, value)
      }
      if (name === `${family}_count` && value !== series.get(key)) throw new Error(`${family}: count and +Inf differ`)
    }
  }
}

/** The sum of the samples that have these labels; NaN where there is none. */
export function amountOf(samples: readonly Sample[], name: string, labels: Record<string, string> = {}): number {
  const those = samples.filter(
    (one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
  )
  return those.length === 0 ? Number.NaN : those.reduce((sum, { value }) => sum + value, 0)
}
