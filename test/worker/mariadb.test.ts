import { describeWorkerAway } from './away'
import { describeClaims } from './claims'
import { describeHandling } from './handling'
import { describeHooks } from './hooks'
import { describeMany } from './many'
import { describePoison } from './poison'
import { describeSchemas } from './schemas'

describeHandling('mariadb')
describeClaims('mariadb')
describeWorkerAway('mariadb')
describeHooks('mariadb')
describeMany('mariadb')
describePoison('mariadb')
describeSchemas('mariadb')
