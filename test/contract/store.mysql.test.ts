import { describeEngine } from '../support/engines'
import { describeStore } from './store'

describeEngine('mysql', 'contract of the store', () => describeStore('mysql'))
