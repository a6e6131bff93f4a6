/** A primary and a replica of MySQL: the replica applies in parallel, and commits in another order than the primary did. */
import { MYSQL_IMAGE, mysqlOptions } from './group-replication.mjs'

export const PRIMARY = 1
export const REPLICA = 2

const PARALLEL = [
  '--replica-parallel-workers=6',
  '--replica-preserve-commit-order=OFF',
  '--read-only=ON',
  '--super-read-only=ON',
]

export const replica = {
  name: 'replica',
  engine: 'MySQL, a replica that applies in parallel',
  image: MYSQL_IMAGE,
  count: 2,
  program: (nodes, node) => {
    const options = [...mysqlOptions(nodes, node), ...(node === REPLICA ? PARALLEL : [])].join(' ')
    return `touch /data/started; exec mysqld ${options}`
  },
  async join(nodes, node) {
    if (node === PRIMARY) return
    const account = `SOURCE_USER='root', SOURCE_PASSWORD='${nodes.password}', GET_SOURCE_PUBLIC_KEY=1`
    const source = `SOURCE_HOST='${nodes.address(PRIMARY)}', SOURCE_AUTO_POSITION=1, SOURCE_CONNECT_RETRY=1`
    await nodes.query(node, `CHANGE REPLICATION SOURCE TO ${source}, ${account}`, 20_000)
    await nodes.query(node, 'START REPLICA', 20_000)
  },
  async state(nodes, node) {
    if (node === PRIMARY) return (await nodes.query(node, 'SELECT 1')) && 'well'
    const [status] = await nodes.query(node, 'SHOW REPLICA STATUS')
    const threads = [status?.Replica_IO_Running, status?.Replica_SQL_Running].join()
    return threads === 'Yes,Yes' ? 'well' : `${threads} ${status?.Last_Error} ${status?.Last_IO_Error}`
  },
}
