import { describePollSuspended } from './poll-suspended'

describePollSuspended('mariadb')
