import { describeEngine } from '../support/engines'
import { describeContract } from './suite'

describeEngine('mariadb', 'contract', () => describeContract('mariadb'))
