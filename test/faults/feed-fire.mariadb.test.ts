import { describeFeedFire } from './feed-fire'

describeFeedFire('mariadb')
