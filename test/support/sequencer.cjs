/**
 * The longest files come first, for they mostly wait while others compute: the contract of the servers, then other files with
 * long waits. These files are small, and jest, without the times of an earlier run, would run them last. An attack
 * measures how soon others are answered during it, so that no two of test/hostile should run at the same time.
 */
const { default: Sequencer } = require('@jest/test-sequencer')

const FIRST = [
  /\/contract\/.*\.(?:mysql|mariadb)\.test\.ts$/,
  /\/(?:contract|worker)\//,
  /\/(?:model|engines|cli|concurrency)\//,
]

function rankOf({ path }) {
  const rank = FIRST.findIndex((pattern) => pattern.test(path))
  return rank < 0 ? FIRST.length : rank
}

const isAttack = ({ path }) => path.includes('/test/hostile/')

/** The attacks at equal distances. */
function spread(attacks, others) {
  const distance = Math.max(1, Math.round(others.length / (attacks.length + 1)))
  return [
    ...others.flatMap((test, at) => (at > 0 && at % distance === 0 ? [...attacks.splice(0, 1), test] : [test])),
    ...attacks,
  ]
}

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests)
    const others = sorted.filter((test) => !isAttack(test)).sort((one, other) => rankOf(one) - rankOf(other))
    return spread(sorted.filter(isAttack), others)
  }
}
