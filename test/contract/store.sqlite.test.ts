import { describeEngine } from '../support/engines'
import { describeStore } from './store'

describeEngine('sqlite', 'contract of the store', () => describeStore('sqlite'))
