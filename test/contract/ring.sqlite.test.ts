import { describeEngine } from '../support/engines'
import { describeRing } from './ring'

describeEngine('sqlite', 'contract of the ring', () => describeRing('sqlite'))
