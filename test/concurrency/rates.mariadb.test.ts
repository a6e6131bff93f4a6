import { describeRates } from './rates'

describeRates('mariadb', { messages: 400, groups: 40, leastShare: 0 })
