import { describeKeyFire } from './key-fire'

describeKeyFire('mysql')
