/** Group Replication of MySQL, all members writing, from the image of MySQL, whose server has the plugin. */
import { randomUUID } from 'node:crypto'
import { ACCOUNTS, buildImage } from './nodes.mjs'

const BASE = process.env.RECENTN_TEST_MYSQL_IMAGE || 'mysql:9.7'
export const MYSQL_IMAGE = 'recentn-test-group'
const GROUP = randomUUID()
const INIT = [...ACCOUNTS, "GRANT SELECT ON performance_schema.replication_group_members TO health@'%'"]
/** Each member has its own number, which its first start makes. */
const MAKE_DATA = `cat >/tmp/init <<'SQL'
${INIT.map((sql) => `${sql};`).join('\n')}
SQL
mysqld --no-defaults --initialize-insecure --user=root --datadir=/seed --innodb-redo-log-capacity=64M --init-file=/tmp/init --disable-log-bin 2>/dev/null
rm -f /seed/auto.cnf`

/** Null, or why there can be none. */
export const prepareGroupReplication = () => buildImage(MYSQL_IMAGE, BASE, [MAKE_DATA])

/** The options of a server that has a binary log with GTIDs. */
export const mysqlOptions = (nodes, node) => [
  '--no-defaults',
  '--user=root',
  '--datadir=/data',
  '--socket=/tmp/socket',
  '--bind-address=0.0.0.0',
  '--mysqlx=OFF',
  '--secure-file-priv=NULL',
  '--skip-name-resolve',
  '--max-connections=300',
  '--innodb-buffer-pool-size=128M',
  '--innodb-redo-log-capacity=64M',
  `--server-id=${node}`,
  `--report-host=${nodes.address(node)}`,
  '--gtid-mode=ON',
  '--enforce-gtid-consistency=ON',
]

export const groupReplication = {
  name: 'group',
  engine: 'MySQL Group Replication, several primaries',
  image: MYSQL_IMAGE,
  check: 'group-replication.sh',
  /** The fault of the short form: the node is cut off. */
  shortFault: 1,
  program: (nodes, node) => {
    const options = [
      ...mysqlOptions(nodes, node),
      '--transaction-isolation=READ-COMMITTED',
      '--plugin-load-add=group_replication.so',
      `--group-replication-group-name=${GROUP}`,
      `--group-replication-local-address=${nodes.address(node)}:33061`,
      `--group-replication-group-seeds=${nodes.numbers.map((one) => `${nodes.address(one)}:33061`).join(',')}`,
      '--group-replication-single-primary-mode=OFF',
      '--group-replication-enforce-update-everywhere-checks=ON',
      '--group-replication-recovery-get-public-key=ON',
      '--group-replication-exit-state-action=READ_ONLY',
      // Five seconds after a member is suspected, without the usual five more.
      '--group-replication-member-expel-timeout=0',
    ].join(' ')
    return `
      boot=$([ -e /data/started ] && echo ON || echo OFF); touch /data/started
      exec mysqld ${options} --group-replication-start-on-boot=$boot`
  },
  /** Makes a new member one of the group; the first one makes the group. */
  async join(nodes, node) {
    const account = `SOURCE_USER='root', SOURCE_PASSWORD='${nodes.password}'`
    const bootstrap = `SET GLOBAL group_replication_bootstrap_group = `
    const statements = [
      `CHANGE REPLICATION SOURCE TO ${account} FOR CHANNEL 'group_replication_recovery'`,
      ...(node === 1 ? [`${bootstrap}ON`] : []),
      'START GROUP_REPLICATION',
      ...(node === 1 ? [`${bootstrap}OFF`] : []),
    ]
    for (const sql of statements) await nodes.query(node, sql, 60_000)
  },
  async state(nodes, node) {
    const [row] = await nodes.query(
      node,
      'SELECT MEMBER_STATE AS state FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid',
    )
    return row?.state === 'ONLINE' ? 'well' : String(row?.state)
  },
  /** True if another member has it in the group: one that was cut off believes for a while that it still is a member. */
  async isMember(nodes, node) {
    const other = nodes.numbers.find((one) => one !== node)
    const members = await nodes.query(
      other,
      `SELECT 1 FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE' AND MEMBER_HOST = '${nodes.address(node)}'`,
    )
    return members.length > 0
  },
  isOut: (state) => state === 'ERROR' || state === 'OFFLINE',
  /** A member that was expelled is ordered to come back. */
  async rejoin(nodes, node) {
    await nodes.query(node, 'STOP GROUP_REPLICATION', 60_000).catch(() => {})
    await nodes.query(node, 'START GROUP_REPLICATION', 60_000)
  },
}
