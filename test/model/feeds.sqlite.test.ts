import { describeEngine } from '../support/engines'
import { describeFeedsModel } from './feeds/feeds'

describeEngine('sqlite', 'model of feeds', () => describeFeedsModel('sqlite', 40))
