import { describeKeyFire } from './key-fire'

describeKeyFire('mariadb')
