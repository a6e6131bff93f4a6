/**
 * `npm run fuzz`: what `npm test` does with generated requests in seconds, for longer and by a new seed. The seed is printed;
 * RECENTN_FUZZ_SEED draws the same requests again, RECENTN_FUZZ_ROUNDS says how many, RECENTN_TEST_ENGINES on which engines.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'

const { RECENTN_FUZZ_SEED: seed = String(randomInt(1_000_000)), RECENTN_FUZZ_ROUNDS: rounds = '200' } = process.env
process.stdout.write(`fuzz: RECENTN_FUZZ_SEED=${seed} RECENTN_FUZZ_ROUNDS=${rounds}\n`)
const env = { ...process.env, RECENTN_FUZZ_SEED: seed, RECENTN_FUZZ_ROUNDS: rounds }
// The server that gets broken requests is the built one.
const built = spawnSync('node', ['scripts/build.mjs'], { stdio: 'inherit' })
if (built.status !== 0) process.exit(1)
const { status } = spawnSync(
  'npx',
  ['jest', '--verbose', 'test/hostile/(fuzz|broken-http)', ...process.argv.slice(2)],
  {
    env,
    stdio: 'inherit',
  },
)
process.exit(status ?? 1)
