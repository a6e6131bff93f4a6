/**
 * Files and pages that are the same for every client, kept in memory under a strong tag. A browser asks with every load
 * whether its copy is still current.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Request, RequestHandler, Response } from 'express'
import { ERRORS } from '../../shared/errors'
import { traceOf } from '../metrics/traffic'
import { packageRoot } from '../version'
import { ERRORS_PATH } from './problem'
import { deliverKept } from './sending'

export interface KeptPage {
  bytes: Buffer
  etag: string
}

/** The bytes under a tag of their hash, with a suffix where they are one of several encodings of a file. */
export function keptPage(bytes: Buffer, hashed = bytes, suffix = ''): KeptPage {
  const hash = createHash('sha256').update(hashed).digest('base64url').slice(0, 22)
  return { bytes, etag: `"${hash}${suffix}"` }
}

/** Answers with the page, or with 304 to a client that has it. The headers describe the page. */
export function sendPage(
  request: Request,
  response: Response,
  { bytes, etag }: KeptPage,
  headers: Readonly<Record<string, string>>,
): void {
  response.setHeader('Cache-Control', 'no-cache')
  response.setHeader('ETag', etag)
  if (request.fresh) {
    response.status(304).end()
    return
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.setHeader('Content-Length', bytes.length)
  deliverKept(response, request.method === 'HEAD' ? undefined : bytes)
}

/**
 * The page at `/docs/errors`, below where the router is mounted: `docs/errors.md` of this package, which explains every code. The
 * `type` of a problem leads there. It has no data, so everyone may read it.
 */
export function errorsPage(): RequestHandler {
  let page: KeptPage | undefined
  return (request, response) => {
    page ??= keptPage(Buffer.from(errorsHtml()))
    const trace = traceOf(response)
    if (trace) trace.route = ERRORS_PATH
    sendPage(request, response, page, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    })
  }
}

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
