import { describePollFire } from './poll-fire'

describePollFire('mariadb')
