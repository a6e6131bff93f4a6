import { describeRates } from './rates'

describeRates('mysql')
