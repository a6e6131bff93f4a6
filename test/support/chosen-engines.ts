/** Which engines a run is to test, from its environment. */
import { ENGINES, type EngineName } from './engines'
import { SERVER_ENGINES, type ServerEngine } from './servers/server'

/** `one`: SQLite and one server, which is MariaDB unless there is none, or the run names a server of MySQL alone. */
type Choice = 'all' | 'one' | readonly EngineName[]

/** The engines without which the run fails, from `REQUIRE_ENGINES`: names with commas between. */
export function requiredEngines(env = process.env): EngineName[] {
  return enginesIn('REQUIRE_ENGINES', env)
}

/**
 * Which servers to look for, in this order, and how many of them to take at least. From `RECENTN_TEST_ENGINES` (`all`,
 * which holds when it is not set; `one`; or names with commas between); what is required is tested in any case.
 */
export function chosenServers(env = process.env): { first: ServerEngine[]; otherwise: ServerEngine[] } {
  const choice = choiceIn(env)
  const named: readonly EngineName[] = choice === 'all' || choice === 'one' ? [] : choice
  const first = SERVER_ENGINES.filter(
    (engine) => choice === 'all' || named.includes(engine) || requiredEngines(env).includes(engine),
  )
  if (choice !== 'one' || first.length > 0) return { first, otherwise: [] }
  return !env.TEST_MARIADB_URL && env.TEST_MYSQL_URL
    ? { first: ['mysql'], otherwise: [] }
    : { first: ['mariadb'], otherwise: ['mysql'] }
}

function choiceIn(env: NodeJS.ProcessEnv): Choice {
  const text = env.RECENTN_TEST_ENGINES?.trim() || 'all'
  return text === 'all' || text === 'one' ? text : enginesIn('RECENTN_TEST_ENGINES', env, ', all, one')
}

function enginesIn(variable: string, env: NodeJS.ProcessEnv, others = ''): EngineName[] {
  const names = (env[variable] ?? '').split(',').map((name) => name.trim())
  const given = names.filter((name) => name !== '')
  const wrong = given.filter((name) => !ENGINES.some((engine) => engine === name))
  if (wrong.length > 0) throw new Error(`${variable}: ${wrong.join(', ')}? It takes ${ENGINES.join(', ')}${others}`)
  return ENGINES.filter((engine) => given.includes(engine))
}
