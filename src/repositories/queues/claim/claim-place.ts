/** Places among the ready messages of a queue, in the order of the claims. */

/** Where the last full claim of a queue ended: the messages that are left come later. */
export interface ClaimPlace {
  major: number
  minor: number
}

export function isBefore(a: ClaimPlace, b: ClaimPlace): boolean {
  return a.major < b.major || (a.major === b.major && a.minor < b.minor)
}
