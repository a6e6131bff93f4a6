import { describePollSuspended } from './poll-suspended'

describePollSuspended('mysql')
