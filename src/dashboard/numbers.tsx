/** Numbers: digits and nothing else, so that what is copied is what a request takes. */

/** Digits in groups of three, which are set apart by style alone. */
export function Num({ value }: { value: number | bigint }) {
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
