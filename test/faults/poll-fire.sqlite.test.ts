import { describePollFire } from './poll-fire'

describePollFire('sqlite')
