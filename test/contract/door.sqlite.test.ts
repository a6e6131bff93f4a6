import { describeEngine } from '../support/engines'
import { describeDoor } from './door'

describeEngine('sqlite', 'contract of the door for plain SQL', () => describeDoor('sqlite'))
