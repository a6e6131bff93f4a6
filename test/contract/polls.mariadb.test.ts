import { describeEngine } from '../support/engines'
import { describePolls } from './polls'

describeEngine('mariadb', 'contract of polls', () => describePolls('mariadb'))
