import { describeEngine } from '../support/engines'
import { describeStore } from './store'

describeEngine('mariadb', 'contract of the store', () => describeStore('mariadb'))
