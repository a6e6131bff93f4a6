import { describeClaims } from './claims'
import { describeHandling } from './handling'
import { describeHooks } from './hooks'
import { describeMany } from './many'
import { describePoison } from './poison'
import { describeSchemas } from './schemas'

for (const options of [{ memory: false }, { memory: true }]) {
  describeHandling('sqlite', options)
  describeClaims('sqlite', options)
}
describeHooks('sqlite')
describeMany('sqlite')
describePoison('sqlite')
describeSchemas('sqlite')
