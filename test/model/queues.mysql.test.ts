import { describeEngine } from '../support/engines'
import { describeQueueModel } from './queues/queues'

describeEngine('mysql', 'model', () => describeQueueModel('mysql', 6))
