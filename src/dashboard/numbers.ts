/** Counts with a thin space between thousands; ids and totals too, which may be longer than a double holds. */
export function grouped(value: number | string): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, '\u202f')
}

export function counted(value: number, one: string, many = `${one}s`): string {
  return `${grouped(value)} ${value === 1 ? one : many}`
}
