/** All contenders, recentn first. */
import type { Contender, EngineName } from '../types'
import { insertAndTrim } from './insert-and-trim'
import { insertAndTrimSqlite } from './insert-and-trim-sqlite'
import { limit } from './limit/rings'
import { postgres } from './postgres'
import { publishedRecipe } from './published-recipe'
import { recentn, unbatched } from './recentn'
import { redis, redisAlways } from './redis'

export function contendersOn(engine: EngineName): Contender[] {
  const sql = engine === 'sqlite' ? [insertAndTrimSqlite] : [insertAndTrim, publishedRecipe]
  return [recentn, unbatched, redis, redisAlways, ...sql, postgres, limit]
}

export function contenderNamed(engine: EngineName, name: string): Contender {
  const found = contendersOn(engine).find((contender) => contender.name === name)
  if (found === undefined) throw new Error(`no contender is named ${name}`)
  return found
}
