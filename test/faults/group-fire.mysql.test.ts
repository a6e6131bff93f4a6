import { describeGroupFire } from './group-fire'

describeGroupFire('mysql')
