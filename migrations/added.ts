/** The columns that later migrations add to the tables of the first one. Frozen once released. */
import type { Types } from './dialect'

/** The definition of each added column, by the table's name without the prefix. */
export type AddedColumns = Readonly<Record<string, Readonly<Record<string, string>>>>

export function addedColumns({ text }: Types): AddedColumns {
  const attributes = `${text} NULL`
  return { queue_messages: { attributes }, queue_archive: { attributes } }
}
