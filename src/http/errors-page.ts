/** The page `/docs/errors`: `docs/errors.md` of this package, which says what each code means and what to do about it. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { ERRORS } from '../shared/errors'
import { packageRoot } from './version'

/** The page as HTML, an entry for each code under its anchor. It loads nothing and needs no script. */
export function errorsHtml(root = packageRoot()): string {
  const file = path.join(root, 'docs', 'errors.md')
  // A bundle of an app may have the code of this package alone.
  const [, ...entries] = (existsSync(file) ? readFileSync(file, 'utf8') : titles()).split('\n## ')
  return (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<meta name="color-scheme" content="light dark"><title>recentn: errors</title></head><body>\n<main><h1>Errors</h1>\n` +
    `${entries.map(entryHtml).join('\n')}\n</main></body></html>\n`
  )
}

function titles(): string {
  return Object.entries(ERRORS).reduce(
    (page, [code, { status, title }]) => `${page}\n## ${code}\n\n**${status}** ${title}\n`,
    '',
  )
}

function entryHtml(entry: string): string {
  const [code = '', ...paragraphs] = entry.trim().split('\n\n')
  return `<section id="${code}"><h2>${code}</h2>\n${paragraphs.map((each) => `<p>${html(each)}</p>`).join('\n')}</section>`
}

function html(markdown: string): string {
  const escaped = markdown.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return escaped.replaceAll(/`([^`]*)`/g, '<code>$1</code>').replaceAll(/\*\*([^*]*)\*\*/g, '<b>$1</b>')
}
