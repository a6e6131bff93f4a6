import { describeEngine } from '../support/engines'
import { describeFullDisk } from './full-disk'

describeEngine('mariadb', 'a full disk', () => describeFullDisk('mariadb'))
