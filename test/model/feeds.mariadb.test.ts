import { describeEngine } from '../support/engines'
import { describeFeedsModel } from './feeds/feeds'

describeEngine('mariadb', 'model of feeds', () => describeFeedsModel('mariadb', 10))
