/**
 * Removes API keys and other secrets, which clients put where they do not belong, from texts that are logged or echoed.
 */

/** The id of a key may be shown, its secret never. */
const KEYS = /(rk_[0-9a-f]+_)[\w-]+/gi

/** The names of query parameters in which clients of other services send secrets. */
const SECRET_NAMES = /key|token|secret|passw|auth|credential|signature/i

const CUT = '…'
const MAX_LAYERS = 10

/** A text without its percent-encoding, however often it was encoded; null if it was encoded too often. */
function decoded(text: string): string | null {
  let plain = text
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    // Byte by byte, so that text that is not UTF-8 is checked too; keys are ASCII.
    const next = plain.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    if (next === plain) return plain
    plain = next
  }
  return null
}

export function hasSecret(text: string): boolean {
  const plain = decoded(text)
  return plain === null || plain.search(KEYS) >= 0
}

/** A part of a request target without keys; a part that has none stays as it was written. */
function withoutKeys(part: string): string {
  const plain = decoded(part)
  if (plain === null) return CUT
  const cut = plain.replaceAll(KEYS, `$1${CUT}`)
  return cut === plain ? part : cut
}

/** A request's target without keys, and without the values of query parameters whose names mean secrets. */
export function withoutSecrets(target: string): string {
  const start = target.indexOf('?')
  const path = start < 0 ? target : target.slice(0, start)
  const shownPath = path.split('/').map(withoutKeys).join('/')
  if (start < 0) return shownPath
  const pairs = target.slice(start + 1).split('&')
  return `${shownPath}?${pairs.map(shownPair).join('&')}`
}

/** A message for people without keys (also those with a line break), the user and password of an address, and the values of parameters that mean secrets. */
export function withoutSecretsIn(message: string): string {
  return message
    .replaceAll(/(rk_[0-9a-f]+_)(?:[\w-]|\\[nrt]|[\r\n])+/gi, `$1${CUT}`)
    .replaceAll(/(:\/\/)[^\s'"]*@/g, `$1${CUT}@`)
    .replaceAll(/([\w-]+)=([^\s&'"]+)/g, (pair, name) => (SECRET_NAMES.test(name) ? `${name}=${CUT}` : pair))
}

function shownPair(pair: string): string {
  const equals = pair.indexOf('=')
  if (equals < 0) return withoutKeys(pair)
  const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)]
  const shown = withoutKeys(value)
  // A key is shown by its id.
  const isSecret = shown === value && SECRET_NAMES.test(decoded(name) ?? name)
  return `${withoutKeys(name)}=${isSecret ? CUT : shown}`
}
