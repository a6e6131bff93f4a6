import { describeEngine } from '../support/engines'
import { describeModel } from './ring'

describeEngine('mysql', 'model', () => describeModel('mysql', 25))
