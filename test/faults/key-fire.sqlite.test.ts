import { describeKeyFire } from './key-fire'

describeKeyFire('sqlite')
