import { describeRates } from '../concurrency/rates'

describeRates('mysql', { messages: 3000, groups: 100, leastShare: 0.9 })
