import { describeWorkerAway } from './away'
import { describeClaims } from './claims'
import { describeHandling } from './handling'
import { describeHooks } from './hooks'
import { describeMany } from './many'
import { describePoison } from './poison'
import { describeSchemas } from './schemas'

describeHandling('mysql')
describeClaims('mysql')
describeWorkerAway('mysql')
describeHooks('mysql')
describeMany('mysql')
describePoison('mysql')
describeSchemas('mysql')
