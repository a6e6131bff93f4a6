import { describeRates } from './rates'

describeRates('mariadb')
