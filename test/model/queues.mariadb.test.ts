import { describeEngine } from '../support/engines'
import { describeQueueModel } from './queues/queues'

describeEngine('mariadb', 'model', () => describeQueueModel('mariadb', 6))
