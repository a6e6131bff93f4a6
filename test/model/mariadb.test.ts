import { describeEngine } from '../support/engines'
import { describeModel } from './ring'

describeEngine('mariadb', 'model', () => describeModel('mariadb', 40))
