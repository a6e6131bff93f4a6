/** A Galera cluster of MariaDB, from the image of MariaDB and Debian's packages. The image has HAProxy, too. */
import { ACCOUNTS, buildImage } from './nodes.mjs'

const BASE = process.env.RECENTN_TEST_MARIADB_IMAGE || 'mariadb:11.8'
export const GALERA_IMAGE = 'recentn-test-galera'
const PROVIDER = '/usr/lib/galera/libgalera_smm.so'
/** With what a node needs to give its data to another one. */
const INSTALL = `apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \\
  mariadb-server mariadb-backup socat iproute2 haproxy
rm -rf /var/lib/apt/lists/*`
/** A first start gives the data a position that all copies begin at, so that no node needs the data of another one. */
const MAKE_DATA = `mkdir /seed
mariadb-install-db --no-defaults --datadir=/seed --user=root --auth-root-authentication-method=normal --skip-test-db >/dev/null
mariadbd --no-defaults --user=root --datadir=/seed --socket=/tmp/socket --skip-networking --wsrep-on=ON --binlog-format=ROW \\
  --innodb-autoinc-lock-mode=2 --innodb-log-file-size=32M --wsrep-provider=${PROVIDER} --wsrep-cluster-address=gcomm:// \\
  --wsrep-new-cluster --wsrep-node-address=127.0.0.1 --log-error=/seed/first.err &
server=$!
for n in $(seq 300); do grep -qs 'ready for connections' /seed/first.err && break; sleep 0.1; done
mariadb --no-defaults --user=root --socket=/tmp/socket --execute="${ACCOUNTS.join('; ')}"
kill $server; wait $server || true`

/** Null, or why there can be none. */
export const prepareGalera = () => buildImage(GALERA_IMAGE, BASE, [INSTALL, MAKE_DATA])

export const galera = {
  name: 'galera',
  engine: 'MariaDB Galera Cluster',
  image: GALERA_IMAGE,
  check: 'galera.sh',
  /** The fault of the short form: the node is killed. */
  shortFault: 0,
  program: (nodes, node) => {
    const options = [
      '--no-defaults',
      '--user=root',
      '--datadir=/data',
      '--socket=/tmp/socket',
      '--bind-address=0.0.0.0',
      '--skip-name-resolve',
      '--max-connections=300',
      '--innodb-buffer-pool-size=128M',
      '--innodb-log-file-size=32M',
      `--innodb-flush-log-at-trx-commit=${process.env.RECENTN_CLUSTER_FLUSH || 1}`,
      '--binlog-format=ROW',
      '--innodb-autoinc-lock-mode=2',
      '--wsrep-on=ON',
      `--wsrep-provider=${PROVIDER}`,
      '--wsrep-provider-options=gcache.size=64M',
      `--wsrep-cluster-name=${nodes.name}`,
      `--wsrep-cluster-address=gcomm://${nodes.numbers.map((one) => nodes.address(one)).join(',')}`,
      `--wsrep-node-address=${nodes.address(node)}`,
      `--wsrep-node-name=node${node}`,
      '--wsrep-slave-threads=4',
      '--wsrep-sst-method=mariabackup',
      `--wsrep-sst-auth=root:${nodes.password}`,
    ].join(' ')
    // As galera_recovery does: after a kill the data say where they are.
    return `
      if [ -e /data/started ]; then
        mariadbd ${options} --wsrep-recover 2>/data/recovery.err
        at=--wsrep-start-position=$(sed -n 's/.*Recovered position: *//p' /data/recovery.err | tail -n 1)
      else
        at=${node === 1 ? '--wsrep-new-cluster' : ''}
        touch /data/started
      fi
      exec mariadbd ${options} $at`
  },
  async state(nodes, node) {
    const rows = await nodes.query(
      node,
      "SHOW STATUS WHERE Variable_name IN ('wsrep_local_state_comment', 'wsrep_cluster_status')",
    )
    const values = rows
      .map(({ Value }) => Value)
      .sort()
      .join(' ')
    return values === 'Primary Synced' ? 'well' : values
  },
}
