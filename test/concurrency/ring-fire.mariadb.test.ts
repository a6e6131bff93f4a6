import { describeRingFire } from './ring-fire'

describeRingFire('mariadb')
