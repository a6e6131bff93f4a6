/** A number that is always the same for a name (FNV-1a), for choosing one of several lanes. */
export function laneOf(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
