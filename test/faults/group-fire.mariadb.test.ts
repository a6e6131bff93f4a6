import { describeGroupFire } from './group-fire'

describeGroupFire('mariadb')
