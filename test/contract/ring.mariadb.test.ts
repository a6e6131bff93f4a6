import { describeEngine } from '../support/engines'
import { describeRing } from './ring'

describeEngine('mariadb', 'contract of the ring', () => describeRing('mariadb'))
