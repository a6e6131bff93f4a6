import { describeRates } from './rates'

describeRates('sqlite')
