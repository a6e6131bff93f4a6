/**
 * The contract of the servers first, for it takes longest: its files are small, and where there are no times of an earlier
 * run jest would take them for quick ones and have them last.
 */
const { default: Sequencer } = require('@jest/test-sequencer')

const rankOf = ({ path }) =>
  /\/contract\/.*\.(?:mysql|mariadb)\.test\.ts$/.test(path) ? 0 : path.includes('/contract/') ? 1 : 2

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((one, other) => rankOf(one) - rankOf(other))
  }
}
