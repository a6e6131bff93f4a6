import { describeEngine } from '../support/engines'
import { describeFeedsModel } from './feeds/feeds'

describeEngine('mysql', 'model of feeds', () => describeFeedsModel('mysql', 6))
