import { describePollFire } from './poll-fire'

describePollFire('mysql')
