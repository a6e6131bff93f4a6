/** The pages of the project, and the code blocks on them. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '../../support/processes'

/** Every page that users and contributors read, by its path in the project. */
export const PAGES: readonly string[] = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.posix.join('docs', name.split(path.sep).join('/'))),
].sort()

export interface Block {
  page: string
  /** The line of the page on which the code begins, counted from 1. */
  line: number
  language: string
  code: string
  /** The word in an HTML comment on the line before the block, such as `prints`; otherwise null. */
  mark: string | null
}

export function textOf(page: string): string {
  return readFileSync(path.join(ROOT, page), 'utf8')
}

/** The fenced blocks of a page, from its top to its end. */
export function blocksOf(page: string): Block[] {
  const lines = textOf(page).split('\n')
  const blocks: Block[] = []
  for (let index = 0; index < lines.length; index++) {
    const [, indent, language] = /^(\s*)```(\S*)\s*$/.exec(lines[index] as string) ?? []
    if (indent === undefined || language === undefined) continue
    const end = lines.findIndex((line, at) => at > index && line === `${indent}\`\`\``)
    if (end < 0) throw new Error(`${page}:${index + 1}: the block has no end`)
    const code = lines.slice(index + 1, end).map((line) => line.slice(indent.length))
    const mark = /^<!-- (.*) -->$/.exec(lines[index - 1]?.trim() ?? '')?.[1] ?? null
    blocks.push({ page, line: index + 2, language, code: code.join('\n'), mark })
    index = end
  }
  return blocks
}

export const BLOCKS: readonly Block[] = PAGES.flatMap(blocksOf)

/** Whether this machine has these programs, which the blocks of some pages call. */
export function hasTools(...programs: string[]): boolean {
  return programs.every((program) => spawnSync(program, ['--version']).status === 0)
}
