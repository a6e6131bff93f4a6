import { IS_LONG } from './fault-run'
import { describeRates } from './rates'

describeRates(
  'sqlite',
  IS_LONG ? { messages: 3000, groups: 100, leastShare: 0.9 } : { messages: 400, groups: 40, leastShare: 0 },
)
