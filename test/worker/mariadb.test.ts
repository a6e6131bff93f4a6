import { describeWorkerAway } from './away'
import { describeClaims } from './claims'
import { describeHandling } from './handling'
import { describePoison } from './poison'

describeHandling('mariadb')
describeClaims('mariadb')
describeWorkerAway('mariadb')
describePoison('mariadb')
