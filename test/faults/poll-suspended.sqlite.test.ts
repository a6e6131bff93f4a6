import { describePollSuspended } from './poll-suspended'

describePollSuspended('sqlite')
