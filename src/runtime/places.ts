/** Where the publishing of a backlog goes on, by the feed and the table that its rows are in. Forgotten when it ends. */
import type { Published, Source } from '../repositories/feeds/publish'

type Place = Published['place']

export class Places {
  readonly #places = new Map<string, Place>()

  get(source: Source): Place {
    return this.#places.get(keyOf(source)) ?? null
  }

  set(source: Source, place: Place): void {
    this.#places.set(keyOf(source), place)
  }

  delete(source: Source): void {
    this.#places.delete(keyOf(source))
  }
}

/** The parameters tell a feed from one of its name that was dropped. */
function keyOf({ feed, table, parameters }: Source): string {
  return `${table} ${parameters.join(' ')} ${feed}`
}
