import { describeDoorFire } from './door-fire'

describeDoorFire('mysql')
