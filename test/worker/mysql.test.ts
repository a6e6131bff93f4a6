import { describeWorkerAway } from './away'
import { describeClaims } from './claims'
import { describeHandling } from './handling'
import { describeHooks } from './hooks'
import { describePoison } from './poison'

describeHandling('mysql')
describeClaims('mysql')
describeWorkerAway('mysql')
describeHooks('mysql')
describePoison('mysql')
