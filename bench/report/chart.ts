/**
 * The figures as an SVG that stands alone: small bars for each workload, in two columns. It follows the reader's light
 * or dark mode by itself, and has no text smaller than 11 px.
 */
import { type Line, type Measured, type Results, ratiosOf } from './results'
import { digits } from './table'

const COLUMN = 485
const GAP = 30
const LABEL = 188
const BAR = COLUMN - LABEL - 105
const ROW = 19
const HEAD = 42

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 13px }
  .small { font-size: 11px; fill: #59636e }
  .ours { fill: #0969da } .peer { fill: #afb8c1 } .weak { fill: none; stroke: #afb8c1; stroke-dasharray: 3 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .small { fill: #9198a1 } .ours { fill: #4493f8 } .peer { fill: #57606a } .weak { stroke: #57606a }
  }`

export function chartOf({ engine, measured }: Results): string {
  const columns = [measured.filter((_, at) => at % 2 === 0), measured.filter((_, at) => at % 2 === 1)]
  const blocks: string[] = []
  let height = 0
  // Beside each other stands what follows each other: the taller of two gives the row its height.
  for (let row = 0; row < (columns[0]?.length ?? 0); row++) {
    const pair = columns.flatMap((column) => column[row] ?? [])
    for (const [at, each] of pair.entries()) blocks.push(block(each, at * (COLUMN + GAP), height))
    height += Math.max(...pair.map(heightOf))
  }
  const width = 2 * COLUMN + GAP + 15
  blocks.push(`<text class="small" x="0" y="${height + 10}">In brackets: recentn's figure by that one.</text>`)
  height += 20
  const network = measured.some((each) => each.network) ? ', over a network' : ''
  const name = `recentn on ${engine} and its peers${network}: ${measured.map(({ workload }) => workload).join(', ')}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(name)}</title>
<style>${STYLE}
</style>
${blocks.join('\n')}
</svg>
`
}

function heightOf({ lines }: Measured): number {
  return HEAD + lines.length * ROW + 16
}

function block(measured: Measured, x: number, y: number): string {
  const { workload, title, unit, lines, lowerIsBetter } = measured
  const most = Math.max(...lines.map((line) => line.median ?? 0)) || 1
  const bars = lines.map((line, at) => bar(line, measured, most, HEAD + at * ROW))
  const better = lowerIsBetter ? ', shorter is better' : ''
  return `<g transform="translate(${x} ${y})">
<text class="title" x="0" y="14">${escaped(workload)} <tspan class="small" font-weight="400">${escaped(unit + better)}</tspan></text>
<text class="small" x="0" y="31">${escaped(title)}</text>
${bars.join('\n')}
</g>`
}

function bar(line: Line, measured: Measured, most: number, y: number): string {
  const ours = line.contender === 'recentn'
  const label = `<text x="${LABEL - 8}" y="${y + 13}" text-anchor="end">${escaped(line.title)}</text>`
  if (line.median === null) return `${label}<text class="small" x="${LABEL}" y="${y + 13}">no figure</text>`
  const width = Math.max(1, (line.median / most) * BAR)
  const weak = line.note.startsWith('NOT CORRECT')
  const shape = weak ? 'weak' : ours ? 'ours' : 'peer'
  const ratio = ratiosOf(measured).find((each) => each.peer === line.contender)
  const value = `${digits(line.median)}${weak ? ', not correct' : ratio ? ` (${digits(ratio.ratio)}×)` : ''}`
  return (
    `${label}<rect class="${shape}" x="${LABEL}" y="${y + 3}" width="${width.toFixed(1)}" height="13" rx="2"/>` +
    `<text class="small" x="${(LABEL + width + 5).toFixed(1)}" y="${y + 13}">${escaped(value)}</text>`
  )
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
