import { describeTopFire } from './top-fire'

describeTopFire('mariadb')
