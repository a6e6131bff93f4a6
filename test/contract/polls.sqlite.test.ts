import { describeEngine } from '../support/engines'
import { describePolls } from './polls'

describeEngine('sqlite', 'contract of polls', () => describePolls('sqlite'))
