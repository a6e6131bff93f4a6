import { describeRates } from './rates'

describeRates('mysql', { messages: 400, groups: 40, leastShare: 0 })
