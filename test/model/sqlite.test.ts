import { describeEngine } from '../support/engines'
import { describeModel } from './ring'

describeEngine('sqlite', 'model', () => describeModel('sqlite', 100))
