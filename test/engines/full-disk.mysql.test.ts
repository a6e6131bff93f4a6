import { describeEngine } from '../support/engines'
import { describeFullDisk } from './full-disk'

describeEngine('mysql', 'a full disk', () => describeFullDisk('mysql'))
