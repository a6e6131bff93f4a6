import { describeTopFire } from './top-fire'

describeTopFire('sqlite')
