import { describeEngine } from '../support/engines'
import { describeDoor } from './door'

describeEngine('mysql', 'contract of the door for plain SQL', () => describeDoor('mysql'))
