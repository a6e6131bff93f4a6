import { describeTopFire } from './top-fire'

describeTopFire('mysql')
