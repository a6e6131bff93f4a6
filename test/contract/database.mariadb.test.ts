import { describeEngine } from '../support/engines'
import { describeDatabase } from './store'

describeEngine('mariadb', 'contract of a database', () => describeDatabase('mariadb'))
