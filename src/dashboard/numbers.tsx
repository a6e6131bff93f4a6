/** Numbers: digits and nothing else, so that what is copied is what a request takes. */

/** Apart by threes, by style alone; ids and totals too, which may be longer than a double holds. */
export function Num({ value }: { value: number | string }) {
  const text = String(value)
  if (text.length < 4) return text
  const [first, ...rest] = text.split(/(?=(?:\d{3})+$)/)
  return (
    <span class="digits">
      {first}
      {rest.map((three, i) => (
        <span key={i}>{three}</span>
      ))}
    </span>
  )
}

export function counted(value: number, one: string, many = `${one}s`): string {
  return `${value} ${value === 1 ? one : many}`
}
