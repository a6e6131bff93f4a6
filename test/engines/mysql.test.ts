import { describeEngine } from '../support/engines'
import { describeOddServer } from './suite'

describeEngine('mysql', 'a server with odd settings', () => describeOddServer('mysql'))
