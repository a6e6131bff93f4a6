import { describeRingFire } from './ring-fire'

describeRingFire('mysql')
