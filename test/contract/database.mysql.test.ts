import { describeEngine } from '../support/engines'
import { describeDatabase } from './store'

describeEngine('mysql', 'contract of a database', () => describeDatabase('mysql'))
