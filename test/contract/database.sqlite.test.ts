import { describeEngine } from '../support/engines'
import { describeDatabase } from './store'

describeEngine('sqlite', 'contract of a database', () => describeDatabase('sqlite'))
