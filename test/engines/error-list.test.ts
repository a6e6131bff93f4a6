import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mysqlFailure, mysqlRefusal } from '../../src/database/mysql/mysql-failures'

/** Errors that any statement may meet: an account, a connection, a lock, a full disk, a stopped statement, a server that takes no writes. */
const ANY_STATEMENT =
  /ACCESS_DENIED|ACCOUNT|CONN?_(COUNT|LIMIT)|USER_(CONNECTIONS|LIMIT)|HOST_(IS|NOT)|HANDSHAKE|NET_|OUT_?OF_?(MEM|RESOURCES|SORT)|DISK_?FULL|FULL(_NOWAIT)?$|LOCK_(WAIT|DEADLOCK|ABORTED|TABLE_FULL)|INTERRUPTED|QUERY_TIMEOUT|SHUTDOWN|READ_ONLY|OPEN_AS_READONLY|OFFLINE|KILLED|CRASHED|ERROR_ON_(READ|WRITE|CLOSE)$|CANT_(OPEN_FILE|LOCK)$|FILE_NOT_FOUND|CAPACITY_EXCEEDED|TABLESPACE_(MISSING|DISCARDED)|SECURE_TRANSPORT_REQUIRED|UNKNOWN_ERROR$|TRX_CONSISTENCY|HOLD_WAIT|MUST_CHANGE_PASSWORD|STACK_OVERRUN_NEED/

/** Errors of other statements, plugins and the threads of replication. */
const NOT_OURS =
  /^ER_(AUDIT|CLONE|KEYRING|SOURCE|REPLICA|SLAVE|GIS|REGEXP|PERSIST|IMP|CLIENT|XA|USER_LOCK|LOCKING_SERVICE|UKNOWN|DEBUG|DA_(?!.*CONN_LIMIT)|NET_OK|CANT_CHANGE_SYS)|_FT_|NO_ACCESS|GRP_TRX_CONSISTENCY_NOT_ALLOWED|PROCACCESS|KILL_DENIED|ENGINE_IN_READ|CAPACITY_EXCEEDED_IN_RANGE|READ_ONLY_TRANSACTION|INNODB_REDO|FILE_NOT_FOUND_IN|BULK|COMPONENT|CHANGE_USER/

describe("the server's list of errors", () => {
  const file = join(dirname(require.resolve('mysql2')), 'lib/constants/errors.js')
  const all = [...readFileSync(file, 'utf8').matchAll(/^exports\[(\d+)\] = '(\w+)'/gm)]
  const ours = all.filter(([, , name = '']) => ANY_STATEMENT.test(name) && !NOT_OURS.test(name) && !/^HA_/.test(name))

  it('has a code for each that can meet any statement', () => {
    expect(ours.length).toBeGreaterThan(60)
    const unknown = ours.filter(([, number]) => {
      const error = { errno: Number(number), message: 'of the test' }
      return mysqlFailure(error) === 'other' && mysqlRefusal(error) === undefined
    })
    expect(unknown.map(([, number, name]) => `${number} ${name}`)).toEqual([])
  })
})
