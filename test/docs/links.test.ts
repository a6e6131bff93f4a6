/** Every link of the pages leads to a file that is there, and to a heading that is on it. */
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '../support/processes'
import { PAGES, textOf } from './support/pages'

/** Code has no links. */
function proseOf(page: string): string {
  return textOf(page)
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '))
}

/** As GitHub names the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of textOf(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const name = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-')
    let anchor = name
    for (let n = 1; anchors.has(anchor); n++) anchor = `${name}-${n}`
    anchors.add(anchor)
  }
  return anchors
}

function brokenLinks(page: string): string[] {
  const links = [...proseOf(page).matchAll(/\[[^\]]*\]\(([^()\s]+)\)/g)].map(([, target = '']) => target)
  return links.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false
    const [file = '', anchor] = target.split('#')
    const found = file === '' ? page : path.posix.join(path.posix.dirname(page), file)
    if (found.startsWith('..') || !existsSync(path.join(ROOT, found))) return true
    if (anchor === undefined) return false
    return statSync(path.join(ROOT, found)).isDirectory() || !anchorsOf(found).has(anchor)
  })
}

test.each(PAGES)('%s links to what is there', (page) => {
  expect(brokenLinks(page)).toEqual([])
})

test('every page of docs/ is on its first page, or on the README', () => {
  const linked = ['README.md', 'docs/README.md'].flatMap((page) =>
    [...proseOf(page).matchAll(/\]\(([^()\s#]+)/g)].map(([, target = '']) =>
      path.posix.join(path.posix.dirname(page), target),
    ),
  )
  const pages = PAGES.filter((page) => page.startsWith('docs/') && !page.startsWith('docs/decisions/'))
  expect(pages.filter((page) => page !== 'docs/README.md' && !linked.includes(page))).toEqual([])
})
