import { describeDoorFire } from './door-fire'

describeDoorFire('mariadb')
