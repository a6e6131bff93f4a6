import { describeEngine } from '../support/engines'
import { describeRing } from './ring'

describeEngine('mysql', 'contract of the ring', () => describeRing('mysql'))
