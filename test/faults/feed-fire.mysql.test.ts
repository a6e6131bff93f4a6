import { describeFeedFire } from './feed-fire'

describeFeedFire('mysql')
