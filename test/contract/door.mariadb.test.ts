import { describeEngine } from '../support/engines'
import { describeDoor } from './door'

describeEngine('mariadb', 'contract of the door for plain SQL', () => describeDoor('mariadb'))
