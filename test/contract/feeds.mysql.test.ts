import { describeEngine } from '../support/engines'
import { describeFeeds } from './feeds'

describeEngine('mysql', 'contract of feeds', () => describeFeeds('mysql'))
