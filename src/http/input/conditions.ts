/** The conditions that the headers of a request put on it: `If-Match` and `If-None-Match`. */
import type { Request } from 'express'
import type { FaultSink } from '../../shared/errors'
import type { Route } from '../route'

/** The path parameters, the target and the headers of a request. */
export type RequestHead = Pick<Request, 'params' | 'url' | 'headers'>

const ONLY_TAG = /^(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/

/** The tag of a header that names exactly one, which is the usual case. */
export function onlyTag(header: string | undefined): string | undefined {
  return header === undefined ? undefined : ONLY_TAG.exec(header)?.[1]
}

export function isEnsuring({ hasSettings, hasVersion, method }: Route, { headers }: RequestHead): boolean {
  return (hasSettings === true || hasVersion === true) && method === 'put' && headers['if-none-match']?.trim() === '*'
}

/** The tag in `If-Match`. A proxy that compresses makes tags weak, and the tag of settings is the same for each encoding. */
export function ifTagOf(route: Route, request: RequestHead, faults: FaultSink): string | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers
  if (ifNoneMatch !== undefined && !(isEnsuring(route, request) && ifMatch === undefined)) {
    const detail = 'must be *, of a PUT without If-Match'
    faults.push({ parameter: 'If-None-Match', detail })
  }
  const isAny = !route.hasVersion && ifMatch?.trim() === '*'
  const tag = isAny ? '*' : onlyTag(ifMatch)
  if (ifMatch !== undefined && (tag === undefined || (route.hasVersion && !VERSION_TAG.test(tag)))) {
    const detail = route.hasVersion ? 'must be one version in quotes' : 'must be * or one tag in quotes'
    faults.push({ parameter: 'If-Match', detail })
  }
  return tag
}

const VERSION_TAG = /^(0|[1-9][0-9]{0,14})$/

const ENTITY_TAG = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g

/** The weak comparison that RFC 9110 requires for `If-None-Match`. */
export function hasTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  for (const [, given] of header.matchAll(ENTITY_TAG)) if (given === tag) return true
  return false
}
