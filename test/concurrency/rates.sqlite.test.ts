import { describeRates } from './rates'

describeRates('sqlite', { messages: 400, groups: 40, leastShare: 0 })
