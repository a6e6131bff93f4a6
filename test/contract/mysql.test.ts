import { describeEngine } from '../support/engines'
import { describeContract } from './suite'

describeEngine('mysql', 'contract', () => describeContract('mysql'))
