import { describeWorkerAway } from './away'
import { describeClaims } from './claims'
import { describeHandling } from './handling'
import { describePoison } from './poison'

describeHandling('mysql')
describeClaims('mysql')
describeWorkerAway('mysql')
describePoison('mysql')
