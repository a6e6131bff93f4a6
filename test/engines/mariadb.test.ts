import { describeEngine } from '../support/engines'
import { describeOddServer } from './suite'

describeEngine('mariadb', 'a server with odd settings', () => describeOddServer('mariadb'))
