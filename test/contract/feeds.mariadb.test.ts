import { describeEngine } from '../support/engines'
import { describeFeeds } from './feeds'

describeEngine('mariadb', 'contract of feeds', () => describeFeeds('mariadb'))
