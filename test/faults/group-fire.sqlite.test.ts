import { describeGroupFire } from './group-fire'

describeGroupFire('sqlite')
