/** A Galera cluster of MariaDB, from the image of MariaDB; the provider is added to an image that has none. */
import { spawnSync } from 'node:child_process'
import { run } from '../../scripts/docker-tools.mjs'

const BASE = process.env.RECENTN_TEST_MARIADB_IMAGE || 'mariadb:11.8'
const IMAGE = 'recentn-test-galera'
const PROVIDER = '/usr/lib/galera/libgalera_smm.so'
const SST = '/usr/bin/wsrep_sst_mariabackup'
/** With what a node needs to give its data to another one. */
const INSTALL = `FROM ${BASE}
RUN test -e ${PROVIDER} -a -e ${SST} || { apt-get update -q && DEBIAN_FRONTEND=noninteractive \\
  apt-get install -y -q --no-install-recommends mariadb-server mariadb-backup socat iproute2; }
`

/** Null, or why there can be none. */
export async function prepareGalera() {
  if ((await run('docker', ['image', 'inspect', BASE])).code !== 0) {
    const { code } = await run('docker', ['pull', '-q', BASE], { timeoutMs: 180_000 })
    if (code !== 0) return `${BASE} is not here and cannot be pulled`
  }
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].filter((name) => process.env[name])
  const args = ['build', '-q', '-t', IMAGE, ...proxies.flatMap((name) => ['--build-arg', name]), '-']
  const { status, stderr } = spawnSync('docker', args, { input: INSTALL, encoding: 'utf8', timeout: 180_000 })
  return status === 0 ? null : `the packages cannot be added to ${BASE}: ${stderr?.trim().split('\n').at(-1)}`
}

export const galera = {
  name: 'galera',
  engine: 'MariaDB Galera Cluster',
  image: IMAGE,
  /** The fault of the short form: the node is killed. */
  shortFault: 0,
  /** A first start gives the data a position that all copies begin at, so that no node needs the data of another one. */
  makeData: (password) => `
    mariadb-install-db --no-defaults --datadir=/data --user=root --auth-root-authentication-method=normal --skip-test-db >/dev/null
    mariadbd --no-defaults --user=root --datadir=/data --socket=/tmp/socket --skip-networking --wsrep-on=ON --binlog-format=ROW \
      --innodb-autoinc-lock-mode=2 --wsrep-provider=${PROVIDER} --wsrep-cluster-address=gcomm:// --wsrep-new-cluster \
      --wsrep-node-address=127.0.0.1 --log-error=/data/first.err &
    server=$!
    for n in $(seq 300); do grep -qs 'ready for connections' /data/first.err && break; sleep 0.1; done
    mariadb --no-defaults --user=root --socket=/tmp/socket --execute="CREATE USER root@'%' IDENTIFIED BY '${password}'; GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION"
    kill $server; wait $server || true`,
  forCopy: () => 'true',
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
    // As galera_recovery does: the data say where they stand, also after a kill.
    return `
      mariadbd ${options} --wsrep-recover 2>/data/recovery.err
      at=$(sed -n 's/.*Recovered position: *//p' /data/recovery.err | tail -n 1)
      [ -e /data/started ] || first=${node === 1 ? '--wsrep-new-cluster' : ''}
      touch /data/started
      exec mariadbd ${options} --wsrep-start-position="$at" $first`
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
