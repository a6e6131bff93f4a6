import { describeWorkerAway } from './away'
import { describeClaims } from './claims'
import { describeHandling } from './handling'
import { describeHooks } from './hooks'
import { describePoison } from './poison'
import { describeSchemas } from './schemas'

describeHandling('mysql')
describeClaims('mysql')
describeWorkerAway('mysql')
describeHooks('mysql')
describePoison('mysql')
describeSchemas('mysql')
