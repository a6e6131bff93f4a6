import { describeEngine } from '../support/engines'
import { describeContract } from './suite'

describeEngine('sqlite', 'contract', () => describeContract('sqlite'))
