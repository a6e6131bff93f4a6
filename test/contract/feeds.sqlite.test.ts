import { describeEngine } from '../support/engines'
import { describeFeeds } from './feeds'

describeEngine('sqlite', 'contract of feeds', () => describeFeeds('sqlite'))
