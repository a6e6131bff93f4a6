import { describeEngine } from '../support/engines'
import { describeQueueModel } from './queues/queues'

describeEngine('sqlite', 'model', () => describeQueueModel('sqlite', 50))
