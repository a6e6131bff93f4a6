import { describeEngine } from '../support/engines'
import { describePolls } from './polls'

describeEngine('mysql', 'contract of polls', () => describePolls('mysql'))
